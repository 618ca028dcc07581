// SPDX-License-Identifier: BSD-3-Clause
// Buffers of large objects: which memory an arena keeps from one transaction to the next.
#include "core/tx/arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace scute::tx_tests {
namespace {

using namespace core;

constexpr uint64_t mib = uint64_t{1} << 20, page = 4096, front = 64;

// Pages of [at, at + n) that have memory.
uint64_t resident(const std::byte* at, uint64_t n) {
  const uint64_t begin = reinterpret_cast<uintptr_t>(at) / page * page;
  const uint64_t length = reinterpret_cast<uintptr_t>(at) + n - begin;
  std::vector<unsigned char> there((length + page - 1) / page);
  if (::mincore(reinterpret_cast<void*>(begin), length, there.data()) != 0) ::abort();
  return static_cast<uint64_t>(
      std::count_if(there.begin(), there.end(), [](unsigned char c) { return (c & 1) != 0; }));
}

// A transaction that edits some bytes of a large object.
std::byte* edit(tx::arena& a, uint64_t size, uint64_t at, uint64_t n) {
  std::byte* const p = a.take(size, front);
  a.touch(p, at, at + n);
  std::memset(p + at, 1, n);
  return p;
}

TEST(arena_memory, EditsOfOneLargeObjectMeetTheirPagesAgain) {
  constexpr uint64_t size = 500 * mib;
  tx::arena a;
  std::byte* const first = edit(a, size, 100 * mib, 10 * page);
  const uint64_t had = resident(first, size);
  EXPECT_GE(had, 10u);
  EXPECT_LE(had, 14u);
  a.reset();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(edit(a, size, 100 * mib, 10 * page), first);
    EXPECT_EQ(resident(first, size), had);
    a.reset();
  }
}

TEST(arena_memory, WhatIsKeptIsBounded) {
  constexpr uint64_t size = 500 * mib;
  tx::arena a;
  uint64_t most = 0;
  std::byte* p = nullptr;
  for (uint64_t at = 0; at + mib < size; at += mib) {
    p = edit(a, size, at, mib);
    a.reset();
    most = std::max(most, resident(p, size));
  }
  EXPECT_LE(most * page, 34 * mib);
  EXPECT_GE(most * page, 16 * mib);  // and is not thrown away all the time
  // One transaction that needs more gets it, and does not keep it.
  p = edit(a, size, 0, 200 * mib);
  EXPECT_GE(resident(p, size) * page, 200 * mib);
  a.reset();
  EXPECT_LE(resident(p, size) * page, mib);
}

// The arena keeps the pages of the object that is edited now, although the transactions before have
// edited other large objects.
TEST(arena_memory, FormerObjectsDoNotKeepOthersFromTheirPages) {
  tx::arena a;
  for (uint64_t i = 0; i < 40; ++i) {  // each too small for the next one's buffer
    edit(a, (8 + i) * mib, 0, 2 * mib);
    a.reset();
  }
  edit(a, 100 * mib, 0, 32 * mib);
  a.reset();
  std::byte* const first = edit(a, 500 * mib, 300 * mib, 10 * page);
  a.reset();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(edit(a, 500 * mib, 300 * mib, 10 * page), first);
    EXPECT_GE(resident(first, 500 * mib), 10u);
    a.reset();
    EXPECT_GE(resident(first, 500 * mib), 10u);
  }
}

TEST(arena_memory, AFormerLargeEditDoesNotEither) {
  tx::arena a;
  edit(a, 100 * mib, 0, 32 * mib - 8 * page);
  a.reset();
  std::byte* const first = edit(a, 500 * mib, 300 * mib, 10 * page);
  a.reset();
  EXPECT_GE(resident(first, 500 * mib), 10u);
}

TEST(arena_memory, ManyLargeObjectsAreNoMoreThanOne) {
  tx::arena a;
  std::vector<std::byte*> all;
  for (int turn = 0; turn < 3; ++turn) {
    all.clear();
    for (uint64_t i = 0; i < 40; ++i) all.push_back(edit(a, (20 + i) * mib, 0, mib));
    for (uint64_t i = 0; i < 40; ++i) {
      EXPECT_TRUE(tx::arena::intact(all[i], (20 + i) * mib, front));
      for (uint64_t k = 0; k < i; ++k) EXPECT_NE(all[i], all[k]);
    }
    a.reset();
  }
  std::byte* const scratch = a.scratch(40 * mib);
  std::memset(scratch, 1, 40 * mib);
  a.reset();
}

}  // namespace
}  // namespace scute::tx_tests

// SPDX-License-Identifier: BSD-3-Clause
// Level hashing in place against std::unordered_map, with the power failing at each of its
// fences and in between. Any words of 8 bytes that were written since may be present.
#include "workloads/level_hash/in_place_level_hash.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/seed.hpp"

namespace scute::test {
namespace {

using workloads::level::key;
using workloads::level::value;
using model = std::unordered_map<uint64_t, uint64_t>;

struct plain_medium {
  void flush(const void*, size_t) {}
  void fence() { ++fences; }
  uint64_t fences = 0;
};

struct memory {
  explicit memory(size_t n) : lines((n + 63) / 64), size(n) {}
  std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(lines.data()), size}; }
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> lines;
  size_t size;
};

// Knows what is durable, and asks `crash` before each fence.
class crash_medium {
 public:
  explicit crash_medium(memory& m) : memory_(m), durable_(m) {}

  void flush(const void* p, size_t n) {
    const auto from = static_cast<const std::byte*>(p) - memory_.bytes().data();
    const auto first = static_cast<size_t>(from) / 64,
               last = (static_cast<size_t>(from) + n - 1) / 64;
    for (size_t i = first; i <= last; ++i) flushed_.emplace_back(i, memory_.lines[i]);
  }
  void fence() {
    if (crash) crash();
    for (const auto& [i, line] : flushed_) durable_.lines[i] = line;
    flushed_.clear();
  }
  // A memory that may be left: the durable bytes, and any words that were written since.
  memory left_over(random_source& random) {
    memory m = durable_;
    const uint64_t share = random.between(0, 4);  // of 4: none, some, all
    for (size_t i = 0; i < m.lines.size(); ++i) {
      if (std::memcmp(&m.lines[i], &memory_.lines[i], 64) == 0) continue;
      for (size_t w = 0; w < 64; w += 8)
        if (random.between(1, 4) <= share)
          std::memcpy(&m.lines[i].bytes[w], &memory_.lines[i].bytes[w], 8);
    }
    return m;
  }
  std::function<void()> crash;

 private:
  memory& memory_;
  memory durable_;
  std::vector<std::pair<size_t, memory::line>> flushed_;
};

template <class Table>
model content(const Table& t) {
  model found;
  t.for_each([&](const key& k, const value& v) {
    EXPECT_EQ(k, key::of(k.words[0]));
    EXPECT_EQ(v, value::of(v.number()));
    EXPECT_TRUE(found.emplace(k.words[0], v.number()).second) << "a key is there twice";
  });
  return found;
}

using plain_table = workloads::level::in_place_table<plain_medium>;

TEST(in_place_level_hash, is_a_map) {
  SCUTE_RANDOM(random);
  memory m(plain_table::bytes_for(12));
  plain_medium medium;
  auto t = std::make_unique<plain_table>(m.bytes(), medium, 2);
  model expected;
  for (const unsigned removals : {1u, 7u, 2u}) {
    for (int i = 0; i < 20'000; ++i) {
      const uint64_t k = random.between(0, 4999), v = random.word();
      const auto there = expected.find(k);
      const uint64_t what = random.between(0, 9);
      if (what < removals) {
        ASSERT_EQ(t->remove(key::of(k)), expected.erase(k) == 1);
      } else if (what == 9) {
        uint64_t got = 0;
        ASSERT_EQ(t->read(key::of(k), [&](const value& x) { got = x.number(); }),
                  there != expected.end());
        if (there != expected.end()) {
          ASSERT_EQ(got, there->second);
        }
      } else {
        ASSERT_EQ(t->insert(key::of(k), value::of(v)), there == expected.end());
        expected[k] = v;
      }
    }
    ASSERT_EQ(t->entries(), expected.size());
    ASSERT_EQ(content(*t), expected);
    t.reset();
    t = std::make_unique<plain_table>(m.bytes(), medium, 2);
    ASSERT_EQ(t->entries(), expected.size());
    ASSERT_EQ(content(*t), expected);
  }
}

TEST(in_place_level_hash, fences_and_load_factor) {
  memory m(plain_table::bytes_for(12));
  plain_medium medium;
  plain_table t(m.bytes(), medium, 11);
  const uint64_t capacity = t.capacity();
  uint64_t k = 0;
  for (; k < capacity / 4; ++k) {
    const uint64_t before = medium.fences;
    t.insert(key::of(k), value::of(k));
    ASSERT_EQ(medium.fences - before, 2U);  // LEVELPM-1: the entry, then its token
  }
  double load = 0;
  for (; t.capacity() == capacity; ++k) {
    load = t.load_factor();
    t.insert(key::of(k), value::of(k));
  }
  EXPECT_GT(load, 0.85);
  EXPECT_EQ(t.capacity(), 2 * capacity);
  const uint64_t before = medium.fences;
  t.remove(key::of(3));
  EXPECT_EQ(medium.fences - before, 1U);
}

TEST(in_place_level_hash, refuses_what_does_not_fit) {
  memory m(plain_table::bytes_for(2));
  plain_medium medium;
  EXPECT_THROW(plain_table(m.bytes(), medium, 3), std::bad_alloc);
  plain_table t(m.bytes(), medium, 2);
  uint64_t k = 0;
  EXPECT_THROW(for (;; ++k) t.insert(key::of(k), value::of(k)), std::bad_alloc);
  EXPECT_EQ(t.entries(), k);
  EXPECT_EQ(content(t).size(), k);
}

// Every rule is needed here: LEVELPM-1, LEVELPM-2, LEVELPM-3, LEVELPM-4.
TEST(in_place_level_hash, survives_a_power_failure_anywhere) {
  SCUTE_RANDOM(random);
  using table = workloads::level::in_place_table<crash_medium>;
  memory m(table::bytes_for(7));
  crash_medium medium(m);
  auto t = std::make_unique<table>(m.bytes(), medium, 2);
  model before, after;
  size_t crashes = 0;
  medium.crash = [&] {
    for (int i = 0; i < 2; ++i) {
      memory left = medium.left_over(random);
      plain_medium plain;
      plain_table found(left.bytes(), plain, 2);
      const model what = content(found);
      ASSERT_TRUE(what == before || what == after);
      ASSERT_EQ(found.entries(), what.size());
      // And the table continues from there.
      ASSERT_TRUE(found.insert(key::of(10'000), value::of(1)));
      ++crashes;
    }
  };
  for (int i = 0; i < 900 && !HasFatalFailure(); ++i) {
    const uint64_t k = random.between(0, 249), v = random.word();
    // Full buckets, whose updates are logged, are rare.
    const bool removes = random.one_in(6);
    if (removes)
      after.erase(k);
    else
      after[k] = v;
    if (removes)
      t->remove(key::of(k));
    else
      t->insert(key::of(k), value::of(v));
    before = after;
  }
  ASSERT_EQ(content(*t), after);
  EXPECT_GE(t->capacity(), 24U << 3);  // three resizes at least were among it
  EXPECT_GT(crashes, 2000U);
}

// A crash in the middle of the work on opening: the same again.
TEST(in_place_level_hash, survives_a_power_failure_in_recovery) {
  SCUTE_RANDOM(random);
  using table = workloads::level::in_place_table<crash_medium>;
  memory m(table::bytes_for(6));
  crash_medium medium(m);
  model before, after;
  size_t deep = 0;
  const auto recover_twice = [&] {
    memory left = medium.left_over(random);
    crash_medium inner(left);
    inner.crash = [&] {
      if (!random.one_in(8)) return;
      memory rest = inner.left_over(random);
      plain_medium plain;
      plain_table found(rest.bytes(), plain, 2);
      const model what = content(found);
      ASSERT_TRUE(what == before || what == after);
      ++deep;
    };
    const table found(left.bytes(), inner, 2);
    const model what = content(found);
    ASSERT_TRUE(what == before || what == after);
  };
  table t(m.bytes(), medium, 2);
  medium.crash = recover_twice;
  for (uint64_t k = 0; k < 160 && !HasFatalFailure(); ++k) {
    after[k] = k;
    t.insert(key::of(k), value::of(k));
    before = after;
  }
  EXPECT_GT(deep, 50U);
}

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Whether something that is done again and again leaves memory allocated.
#pragma once

// A sanitizer's allocator is another one, and does not count.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SCUTE_TEST_COUNTS_MEMORY 1

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace scute::test {

// Bytes that the program has allocated, by all threads. (mallinfo2() knows the first one's only.)
inline size_t memory_in_use() {
  char* text = nullptr;
  size_t n = 0;
  FILE* const out = ::open_memstream(&text, &n);
  EXPECT_EQ(::malloc_info(0, out), 0);
  std::fclose(out);
  const std::string all(text, n);
  std::free(text);
  // The totals of all arenas come last.
  const auto size_of = [&](const std::string& what) {
    const size_t at = all.find("size=\"", all.rfind("<" + what + "\""));
    return std::strtoull(all.c_str() + at + 6, nullptr, 10);
  };
  return size_of("system type=\"current") + size_of("total type=\"mmap") -
         size_of("total type=\"fast") - size_of("total type=\"rest");
}

// Expects that no memory stays in use for each round, beyond some that comes and goes: each thread
// keeps freed pieces of many sizes. In so many rounds the smallest piece that malloc() gives, of 32
// bytes, adds up to more.
template <typename Round>
void expect_none_left(Round&& round) {
  constexpr size_t rounds = 1000, comes_and_goes = size_t{16} << 10;
  static_assert(rounds * 32 > comes_and_goes);
  for (size_t i = 0; i < rounds / 2; ++i) round();
  const size_t used = memory_in_use();
  for (size_t i = 0; i < rounds; ++i) round();
  EXPECT_LT(memory_in_use(), used + comes_and_goes);
}

}  // namespace scute::test

#endif

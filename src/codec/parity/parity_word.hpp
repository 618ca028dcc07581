// SPDX-License-Identifier: BSD-3-Clause
// The byte ranges that are shorter than a vector register, shared by all variants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/bytes.hpp"

namespace scute::core::codec::parity_word {

inline constexpr size_t line = 64;  // cache line

// How many rows ahead of its use a block is fetched. The rows of a column are megabytes apart, more
// streams than a hardware prefetcher follows. Rows may also share cache sets (the pool avoids it,
// the caller's rows need not come from a pool), so the blocks in flight must fit the ways of a set.
inline constexpr size_t rows_ahead = 4;

template <class T>
inline T row_load(const void* row, size_t at) noexcept {
  return load<T>(static_cast<const unsigned char*>(row) + at);
}

// Fetches bytes [at, at + n) of the row that is read `rows_ahead` rows after row `i`, wrapping to
// the next block of the first rows. `n` is a multiple of a line. A prefetch cannot fault, so the
// last wrap may run past the range.
inline void prefetch_row(const void* const* rows, size_t row_count, size_t i, size_t at,
                         size_t n) noexcept {
  size_t next = i + rows_ahead;
  if (next >= row_count) {
    next -= row_count;
    at += n;
    if (next >= row_count) {
      return;
    }
  }
  const auto row = reinterpret_cast<uintptr_t>(rows[next]) + at;
  for (size_t k = 0; k < n; k += line) {
    __builtin_prefetch(reinterpret_cast<const void*>(row + k), 0, 3);
  }
}

// dst = a ^ b ^ c for n bytes, smallest steps last. Sources are read before dst is written at each
// step, so dst may be any of them.
template <class T>
inline void step3(unsigned char* dst, const unsigned char* a, const unsigned char* b,
                  const unsigned char* c, size_t i) noexcept {
  store(dst + i, static_cast<T>(load<T>(a + i) ^ load<T>(b + i) ^ load<T>(c + i)));
}

template <class T>
inline void step2(unsigned char* dst, const unsigned char* a, const unsigned char* b,
                  size_t i) noexcept {
  store(dst + i, static_cast<T>(load<T>(a + i) ^ load<T>(b + i)));
}

inline void xor2(unsigned char* dst, const unsigned char* a, const unsigned char* b, size_t i,
                 size_t n) noexcept {
  for (; n - i >= 8; i += 8) {
    step2<uint64_t>(dst, a, b, i);
  }
  if (((n - i) & 4) != 0) {
    step2<uint32_t>(dst, a, b, i);
    i += 4;
  }
  if (((n - i) & 2) != 0) {
    step2<uint16_t>(dst, a, b, i);
    i += 2;
  }
  if (((n - i) & 1) != 0) {
    step2<uint8_t>(dst, a, b, i);
  }
}

inline void xor3(unsigned char* dst, const unsigned char* a, const unsigned char* b,
                 const unsigned char* c, size_t i, size_t n) noexcept {
  for (; n - i >= 8; i += 8) {
    step3<uint64_t>(dst, a, b, c, i);
  }
  if (((n - i) & 4) != 0) {
    step3<uint32_t>(dst, a, b, c, i);
    i += 4;
  }
  if (((n - i) & 2) != 0) {
    step3<uint16_t>(dst, a, b, c, i);
    i += 2;
  }
  if (((n - i) & 1) != 0) {
    step3<uint8_t>(dst, a, b, c, i);
  }
}

inline bool is_zero(const unsigned char* p, size_t i, size_t n) noexcept {
  uint64_t any = 0;
  for (; n - i >= 8; i += 8) {
    any |= load<uint64_t>(p + i);
  }
  return (any | load_partial(p + i, n - i)) == 0;
}

// Bytes [i, n) of a gather, a word of all rows at a time.
inline void gather(unsigned char* dst, const void* const* rows, size_t row_count, size_t i,
                   size_t n) noexcept {
  for (; n - i >= 8; i += 8) {
    uint64_t sum = 0;
    for (size_t r = 0; r < row_count; ++r) {
      sum ^= row_load<uint64_t>(rows[r], i);
    }
    store(dst + i, sum);
  }
  for (; i < n; ++i) {
    uint8_t sum = 0;
    for (size_t r = 0; r < row_count; ++r) {
      sum = static_cast<uint8_t>(sum ^ row_load<uint8_t>(rows[r], i));
    }
    store(dst + i, sum);
  }
}

}  // namespace scute::core::codec::parity_word

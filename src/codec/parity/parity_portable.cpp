// SPDX-License-Identifier: BSD-3-Clause
// XOR with 8-byte words.
#include "codec/parity/parity_table.hpp"
#include "codec/parity/parity_word.hpp"

namespace scute::core::codec {

namespace {

void xor2(unsigned char* dst, const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  parity_word::xor2(dst, a, b, 0, n);
}

void xor3(unsigned char* dst, const unsigned char* a, const unsigned char* b,
          const unsigned char* c, size_t n) noexcept {
  parity_word::xor3(dst, a, b, c, 0, n);
}

bool is_zero(const unsigned char* p, size_t n) noexcept {
  // Blocks bound the work spent on memory that starts out different from zero.
  constexpr size_t block = 256;
  size_t i = 0;
  for (; n - i >= block; i += block) {
    if (!parity_word::is_zero(p + i, 0, block)) {
      return false;
    }
  }
  return parity_word::is_zero(p, i, n);
}

void gather(unsigned char* dst, const void* const* rows, size_t row_count, size_t n) noexcept {
  constexpr size_t words = 32;
  constexpr size_t block = 8 * words;
  size_t i = 0;
  for (; n - i >= block; i += block) {
    uint64_t sum[words] = {};
    for (size_t r = 0; r < row_count; ++r) {
      parity_word::prefetch_row(rows, row_count, r, i, block);
      for (size_t w = 0; w < words; ++w) {
        sum[w] ^= parity_word::row_load<uint64_t>(rows[r], i + 8 * w);
      }
    }
    for (size_t w = 0; w < words; ++w) {
      store(dst + i + 8 * w, sum[w]);
    }
  }
  parity_word::gather(dst, rows, row_count, i, n);
}

}  // namespace

constinit const parity_table parity_portable{"portable", {}, xor2, xor3, is_zero, gather};

}  // namespace scute::core::codec

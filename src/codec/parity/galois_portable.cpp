// SPDX-License-Identifier: BSD-3-Clause
// Products in GF(2^8), eight bytes a step in an 8-byte word.
//
// A product is linear in the bits of its operand: bit k of a byte adds c * x^k. Bit k of all eight
// bytes, alone in a word of zeros and ones, times the byte c * x^k puts that byte wherever the bit
// is set. Nothing carries from byte to byte, so the order of the bytes in the word does not matter.
#include <cstring>

#include "codec/parity/galois_table.hpp"
#include "codec/parity/parity_word.hpp"

namespace scute::core::codec {

namespace {

using galois::weights;

// powers[c] holds c * x^k in its bits [8k, 8k + 8).
constexpr auto powers = [] {
  std::array<uint64_t, 256> t{};
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned k = 0; k < 8; ++k) {
      const auto x_k = static_cast<uint8_t>(1U << k);
      t[c] |= uint64_t{galois::multiply(static_cast<uint8_t>(c), x_k)} << (8 * k);
    }
  }
  return t;
}();

constexpr uint64_t ones = 0x0101010101010101;

inline uint64_t times(uint64_t x, uint64_t power) noexcept {
  uint64_t product = 0;
  for (unsigned k = 0; k < 8; ++k) {
    product ^= (x >> k & ones) * (power >> (8 * k) & 0xFF);
  }
  return product;
}

void multiply(unsigned char* dst, const unsigned char* src, uint8_t c, size_t n) noexcept {
  const uint64_t power = powers[c];
  size_t i = 0;
  for (; n - i >= 8; i += 8) {
    store(dst + i, times(load<uint64_t>(src + i), power));
  }
  if (i != n) {
    const uint64_t last = times(load_partial(src + i, n - i), power);
    std::memcpy(dst + i, &last, n - i);
  }
}

void multiply_into(unsigned char* dst, const unsigned char* src, uint8_t c, size_t n) noexcept {
  const uint64_t power = powers[c];
  size_t i = 0;
  for (; n - i >= 8; i += 8) {
    store(dst + i, load<uint64_t>(dst + i) ^ times(load<uint64_t>(src + i), power));
  }
  if (i != n) {
    const uint64_t last = load_partial(dst + i, n - i) ^ times(load_partial(src + i, n - i), power);
    std::memcpy(dst + i, &last, n - i);
  }
}

constexpr size_t block_words = 16;
constexpr size_t block_size = 8 * block_words;

struct block {
  uint64_t word[block_words];
};

// sum[s] += weight[s] * row. The bits of the row are looked up once for all sums: as masks, whose
// loops the compiler can turn into vector instructions of the baseline.
void add_row(block* sum, size_t sum_count, const block& row, const weights& weight) noexcept {
  for (unsigned k = 0; k < 8; ++k) {
    block mask;
    for (size_t w = 0; w < block_words; ++w) {
      const uint64_t bits = row.word[w] >> k & ones;
      mask.word[w] = (bits << 8) - bits;
    }
    for (size_t s = 0; s < sum_count; ++s) {
      const uint64_t power = (powers[weight[s]] >> (8 * k) & 0xFF) * ones;
      for (size_t w = 0; w < block_words; ++w) {
        sum[s].word[w] ^= mask.word[w] & power;
      }
    }
  }
}

void combine(void* const* out, size_t sum_count, const void* const* rows, const weights* weight,
             size_t row_count, size_t n) noexcept {
  for (size_t i = 0; i < n; i += block_size) {
    const size_t size = n - i < block_size ? n - i : block_size;
    block sum[galois::sums_max] = {};
    for (size_t r = 0; r < row_count; ++r) {
      parity_word::prefetch_row(rows, row_count, r, i, block_size);
      block row{};
      std::memcpy(&row, static_cast<const unsigned char*>(rows[r]) + i, size);
      add_row(sum, sum_count, row, weight[r]);
    }
    for (size_t s = 0; s < sum_count; ++s) {
      std::memcpy(static_cast<unsigned char*>(out[s]) + i, &sum[s], size);
    }
  }
}

}  // namespace

constinit const galois_table galois_portable{"portable", {}, multiply, multiply_into, combine};

}  // namespace scute::core::codec

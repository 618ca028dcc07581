// SPDX-License-Identifier: BSD-3-Clause
// Products in GF(2^8), eight bytes a step in an 8-byte word.
//
// A product is linear in the bits of its operand: bit k of a byte adds c * x^k. Bit k of all eight
// bytes, alone in a word of zeros and ones, times the byte c * x^k puts that byte wherever the bit
// is set. Nothing carries from byte to byte, so the order of the bytes in the word does not matter.
#include <cstring>

#include "codec/galois_table.hpp"
#include "codec/parity_word.hpp"

namespace scute::codec {

namespace {

using galois::weights;

// powers[c] holds c * x^k in its bits [8k, 8k + 8).
constexpr auto powers = [] {
  std::array<std::uint64_t, 256> t{};
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned k = 0; k < 8; ++k) {
      const auto x_k = static_cast<std::uint8_t>(1U << k);
      t[c] |= std::uint64_t{galois::multiply(static_cast<std::uint8_t>(c), x_k)} << (8 * k);
    }
  }
  return t;
}();

constexpr std::uint64_t ones = 0x0101010101010101;

inline std::uint64_t times(std::uint64_t x, std::uint64_t power) noexcept {
  std::uint64_t product = 0;
  for (unsigned k = 0; k < 8; ++k) {
    product ^= (x >> k & ones) * (power >> (8 * k) & 0xFF);
  }
  return product;
}

void multiply(unsigned char* dst, const unsigned char* src, std::uint8_t c,
              std::size_t n) noexcept {
  const std::uint64_t power = powers[c];
  std::size_t i = 0;
  for (; n - i >= 8; i += 8) {
    store(dst + i, times(load<std::uint64_t>(src + i), power));
  }
  if (i != n) {
    const std::uint64_t last = times(load_partial(src + i, n - i), power);
    std::memcpy(dst + i, &last, n - i);
  }
}

void multiply_into(unsigned char* dst, const unsigned char* src, std::uint8_t c,
                   std::size_t n) noexcept {
  const std::uint64_t power = powers[c];
  std::size_t i = 0;
  for (; n - i >= 8; i += 8) {
    store(dst + i, load<std::uint64_t>(dst + i) ^ times(load<std::uint64_t>(src + i), power));
  }
  if (i != n) {
    const std::uint64_t last =
        load_partial(dst + i, n - i) ^ times(load_partial(src + i, n - i), power);
    std::memcpy(dst + i, &last, n - i);
  }
}

constexpr std::size_t block_words = 16;
constexpr std::size_t block_size = 8 * block_words;

struct block {
  std::uint64_t word[block_words];
};

// sum[s] += weight[s] * row. The bits of the row are looked up once for all sums: as masks, whose
// loops the compiler can turn into vector instructions of the baseline.
void add_row(block* sum, std::size_t sum_count, const block& row, const weights& weight) noexcept {
  for (unsigned k = 0; k < 8; ++k) {
    block mask;
    for (std::size_t w = 0; w < block_words; ++w) {
      const std::uint64_t bits = row.word[w] >> k & ones;
      mask.word[w] = (bits << 8) - bits;
    }
    for (std::size_t s = 0; s < sum_count; ++s) {
      const std::uint64_t power = (powers[weight[s]] >> (8 * k) & 0xFF) * ones;
      for (std::size_t w = 0; w < block_words; ++w) {
        sum[s].word[w] ^= mask.word[w] & power;
      }
    }
  }
}

void combine(void* const* out, std::size_t sum_count, const void* const* rows,
             const weights* weight, std::size_t row_count, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; i += block_size) {
    const std::size_t size = n - i < block_size ? n - i : block_size;
    block sum[galois::sums_max] = {};
    for (std::size_t r = 0; r < row_count; ++r) {
      parity_word::prefetch_row(rows, row_count, r, i, block_size);
      block row{};
      std::memcpy(&row, static_cast<const unsigned char*>(rows[r]) + i, size);
      add_row(sum, sum_count, row, weight[r]);
    }
    for (std::size_t s = 0; s < sum_count; ++s) {
      std::memcpy(static_cast<unsigned char*>(out[s]) + i, &sum[s], size);
    }
  }
}

}  // namespace

constinit const galois_table galois_portable{"portable", {}, multiply, multiply_into, combine};

}  // namespace scute::codec

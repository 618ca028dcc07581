// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic modulo the CRC-32C polynomial, at compile time, for the tables of the kernels.
//
// Residues are bit-reflected like the CRC register: bit 31 is the coefficient of x^0, bit 0 that of
// x^31. In that form the carry-less product of two residues, read as a 64-bit reflected number, is
// x times their product; the exponents below carry the correction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace scute::core::codec::crc32c_math {

inline constexpr uint32_t polynomial = 0x82F63B78;  // 0x1EDC6F41 reflected, x^32 implied
inline constexpr uint32_t one = 0x80000000;

// x has this order modulo the polynomial (checked below), so exponents count modulo it. It is odd,
// so byte counts, exponents divided by eight, count modulo it as well; and negative exponents
// exist.
inline constexpr uint64_t order = 0x7FFFFFFF;

constexpr uint32_t times_x(uint32_t v) {
  return (v >> 1) ^ ((v & 1) != 0 ? polynomial : 0);
}

constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = one; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) {
      product ^= b;
    }
    b = times_x(b);
  }
  return product;
}

constexpr uint32_t power_of_x(int64_t exponent) {
  auto e =
      static_cast<uint64_t>(exponent % static_cast<int64_t>(order) + static_cast<int64_t>(order));
  uint32_t result = one;
  uint32_t square = times_x(one);
  for (; e != 0; e >>= 1) {
    if ((e & 1) != 0) {
      result = multiply(result, square);
    }
    square = multiply(square, square);
  }
  return result;
}

static_assert(power_of_x(static_cast<int64_t>(order)) == one);
static_assert(multiply(power_of_x(-33), power_of_x(33)) == one);

// A byte count is written in base 128: five digits reach past the order.
inline constexpr unsigned digit_bits = 7;
inline constexpr size_t digit_count = size_t{1} << digit_bits;
inline constexpr size_t digits = 5;
using shift_table = std::array<std::array<uint32_t, digit_count>, digits>;

// table[d][i] = x^(8 * i * 128^d - bias): the factor that appends i * 128^d zero bytes.
constexpr shift_table make_shift_table(int bias) {
  shift_table table{};
  const uint32_t start = power_of_x(-bias);
  uint32_t step = power_of_x(8);
  for (auto& row : table) {
    uint32_t power = one;
    for (auto& entry : row) {
      entry = multiply(start, power);
      power = multiply(power, step);
    }
    step = power;
  }
  return table;
}

// Brings a byte count into the reach of the table.
constexpr uint64_t reduce_count(uint64_t n) {
  return n < order ? n : n % order;
}

}  // namespace scute::core::codec::crc32c_math

// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C by table look-up, eight bytes a step ("slicing by eight").
#include <array>

#include "codec/bytes.hpp"
#include "codec/checksum/crc32c_math.hpp"
#include "codec/checksum/crc32c_table.hpp"

namespace scute::core::codec {

namespace {

using namespace crc32c_math;

// slices[k][v]: the register after byte v and k zero bytes.
constexpr auto slices = [] {
  std::array<std::array<uint32_t, 256>, 8> t{};
  for (uint32_t v = 0; v < 256; ++v) {
    uint32_t reg = v;
    for (auto& slice : t) {
      for (int bit = 0; bit < 8; ++bit) {
        reg = times_x(reg);
      }
      slice[v] = reg;
    }
  }
  return t;
}();

constexpr shift_table powers = make_shift_table(0);

uint32_t step8(uint32_t reg, uint64_t word) {
  word ^= reg;
  uint32_t next = 0;
  for (unsigned k = 0; k < 8; ++k) {
    next ^= slices[7 - k][(word >> (8 * k)) & 0xFF];
  }
  return next;
}

uint32_t step1(uint32_t reg, unsigned char byte) {
  return (reg >> 8) ^ slices[0][(reg ^ byte) & 0xFF];
}

uint32_t update(uint32_t reg, const unsigned char* p, size_t n) noexcept {
  for (; n >= 8; p += 8, n -= 8) {
    reg = step8(reg, load_little(p));
  }
  for (; n > 0; ++p, --n) {
    reg = step1(reg, *p);
  }
  return reg;
}

uint32_t update_with_tail(uint32_t reg, const unsigned char* p, size_t n,
                          const unsigned char* tail) noexcept {
  return update(update(reg, p, n), tail, 28);
}

uint32_t linear_xor(const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  uint32_t reg = 0;
  for (; n >= 8; a += 8, b += 8, n -= 8) {
    reg = step8(reg, load_little(a) ^ load_little(b));
  }
  for (; n > 0; ++a, ++b, --n) {
    reg = step1(reg, static_cast<unsigned char>(*a ^ *b));
  }
  return reg;
}

uint32_t shift(uint32_t reg, uint64_t n) noexcept {
  n = reduce_count(n);
  for (size_t digit = 0; n != 0; ++digit, n >>= digit_bits) {
    if (n % digit_count != 0) {
      reg = multiply(reg, powers[digit][n % digit_count]);
    }
  }
  return reg;
}

}  // namespace

constinit const crc32c_table crc32c_portable{"portable",       {},         update,
                                             update_with_tail, linear_xor, shift};

}  // namespace scute::core::codec

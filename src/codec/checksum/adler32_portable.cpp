// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum/adler32_table.hpp"

namespace scute::core::codec {

namespace {

adler32_sums sums(const unsigned char* p, size_t n) noexcept {
  // The most bytes for which neither sum can outgrow 32 bits when both start below the modulus.
  constexpr size_t block_max = 5552;
  uint32_t plain = 0;
  uint32_t weighted = 0;
  while (n > 0) {
    const size_t block = n < block_max ? n : block_max;
    for (size_t i = 0; i < block; ++i) {
      plain += p[i];
      weighted += plain;
    }
    plain %= adler32_modulus;
    weighted %= adler32_modulus;
    p += block;
    n -= block;
  }
  return {plain, weighted};
}

}  // namespace

constinit const adler32_table adler32_portable{"portable", {}, sums};

}  // namespace scute::core::codec

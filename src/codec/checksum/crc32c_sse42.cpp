// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C with the CRC32 and PCLMULQDQ instructions.
#include "codec/checksum/crc32c_table.hpp"
#include "codec/checksum/crc32c_word.hpp"

#if SCUTE_CODEC_X86

namespace scute::core::codec {

namespace {

#define SCUTE_CRC_SSE42 SCUTE_TARGET("sse4.2,pclmul")

SCUTE_CRC_SSE42 uint32_t update(uint32_t reg, const unsigned char* p, size_t n) noexcept {
  return crc32c_word::update(reg, crc32c_word::one_source{p}, n);
}

SCUTE_CRC_SSE42 uint32_t update_with_tail(uint32_t reg, const unsigned char* p, size_t n,
                                          const unsigned char* tail) noexcept {
  reg = n >= crc32c_word::streams_bytes_min
            ? crc32c_word::update(reg, crc32c_word::one_source{p}, n)
            : crc32c_word::update_short(reg, p, n);
  return crc32c_word::update_tail(reg, tail);
}

SCUTE_CRC_SSE42 uint32_t linear_xor(const unsigned char* a, const unsigned char* b,
                                    size_t n) noexcept {
  return crc32c_word::update(0, crc32c_word::xor_source{a, b}, n);
}

SCUTE_CRC_SSE42 uint32_t shift(uint32_t reg, uint64_t n) noexcept {
  return crc32c_word::shift(reg, n);
}

}  // namespace

constinit const crc32c_table crc32c_sse42{
    "sse4.2", {.sse42 = true, .pclmul = true}, update, update_with_tail, linear_xor, shift};

}  // namespace scute::core::codec

#endif

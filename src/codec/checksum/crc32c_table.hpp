// SPDX-License-Identifier: BSD-3-Clause
// The kernels of crc32c.hpp. Internal to src/codec and its
// tests.
//
// `reg` is the raw CRC register, not inverted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/cpu.hpp"

namespace scute::core::codec {

struct crc32c_table {
  const char* name;
  cpu_features needs;
  uint32_t (*update)(uint32_t reg, const unsigned char* p, size_t n) noexcept;
  // For n bytes and then 28 more: a payload and the rest of its header.
  uint32_t (*update_with_tail)(uint32_t reg, const unsigned char* p, size_t n,
                               const unsigned char* tail) noexcept;
  uint32_t (*linear_xor)(const unsigned char* a, const unsigned char* b, size_t n) noexcept;
  uint32_t (*shift)(uint32_t reg, uint64_t n) noexcept;
};

extern const crc32c_table crc32c_portable;
extern const crc32c_table crc32c_sse42;   // x86-64 only
extern const crc32c_table crc32c_avx512;  // x86-64 only

// The tables that run on this machine, the portable one first.
[[nodiscard]] std::vector<const crc32c_table*> crc32c_variants();

}  // namespace scute::core::codec

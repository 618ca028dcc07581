// SPDX-License-Identifier: BSD-3-Clause
// The kernels of parity.hpp. Internal to src/codec and its
// tests.
#pragma once

#include <cstddef>
#include <vector>

#include "codec/cpu.hpp"

namespace scute::core::codec {

struct parity_table {
  const char* name;
  cpu_features needs;
  // dst = a ^ b and dst = a ^ b ^ c; dst may be any source.
  void (*xor2)(unsigned char* dst, const unsigned char* a, const unsigned char* b,
               size_t n) noexcept;
  void (*xor3)(unsigned char* dst, const unsigned char* a, const unsigned char* b,
               const unsigned char* c, size_t n) noexcept;
  bool (*is_zero)(const unsigned char* p, size_t n) noexcept;
  // row_count >= 1
  void (*gather)(unsigned char* dst, const void* const* rows, size_t row_count, size_t n) noexcept;
};

extern const parity_table parity_portable;
extern const parity_table parity_sse2;  // x86-64 only, as the two below
extern const parity_table parity_avx2;
extern const parity_table parity_avx512;

// The tables that run on this machine, the portable one first.
[[nodiscard]] std::vector<const parity_table*> parity_variants();

}  // namespace scute::core::codec

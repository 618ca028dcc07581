// SPDX-License-Identifier: BSD-3-Clause
// The kernels of galois.hpp. Internal to src/codec and its
// tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/cpu.hpp"
#include "codec/parity/galois.hpp"

namespace scute::core::codec {

struct galois_table {
  const char* name;
  cpu_features needs;
  // dst = c * src and dst ^= c * src; dst may be src. Right for every c, fast ways for 0 and 1 are
  // the caller's.
  void (*multiply)(unsigned char* dst, const unsigned char* src, uint8_t c, size_t n) noexcept;
  void (*multiply_into)(unsigned char* dst, const unsigned char* src, uint8_t c, size_t n) noexcept;
  // 1 <= sum_count <= galois::sums_max, row_count >= 1
  void (*combine)(void* const* out, size_t sum_count, const void* const* rows,
                  const galois::weights* weight, size_t row_count, size_t n) noexcept;
};

extern const galois_table galois_portable;
extern const galois_table galois_avx2;    // x86-64 only, as the one below
extern const galois_table galois_avx512;  // and GFNI

// The tables that run on this machine, the portable one first.
[[nodiscard]] std::vector<const galois_table*> galois_variants();

}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
// The kernels of adler32.hpp. Internal to src/codec and its
// tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/cpu.hpp"

namespace scute::core::codec {

inline constexpr uint32_t adler32_modulus = 65521;

// The two sums of a byte range on its own. Everything else about Adler-32 is arithmetic on these.
struct adler32_sums {
  uint32_t plain;     // sum of x[i], modulo adler32_modulus
  uint32_t weighted;  // sum of (n - i) * x[i], modulo adler32_modulus
};

struct adler32_table {
  const char* name;
  cpu_features needs;
  adler32_sums (*sums)(const unsigned char* p, size_t n) noexcept;
};

extern const adler32_table adler32_portable;
extern const adler32_table adler32_avx2;  // x86-64 only

// The tables that run on this machine, the portable one first.
[[nodiscard]] std::vector<const adler32_table*> adler32_variants();

}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
// The kernel of diff.hpp. Internal to src/codec and its
// tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/cpu.hpp"

namespace scute::core::codec {

inline constexpr size_t diff_block = 512;  // 64 words, one per bit

struct diff_table {
  const char* name;
  cpu_features needs;
  // Bit i is set if the 8-byte words at 8 * i differ. 1 <= n <= diff_block; a last word shorter
  // than 8 bytes counts with the bytes it has; bits past the end are clear.
  uint64_t (*differing)(const unsigned char* a, const unsigned char* b, size_t n) noexcept;
};

extern const diff_table diff_portable;
extern const diff_table diff_sse42;  // x86-64 only, as the two below
extern const diff_table diff_avx2;
extern const diff_table diff_avx512;

// The tables that run on this machine, the portable one first.
[[nodiscard]] std::vector<const diff_table*> diff_variants();

// next_diff with a chosen kernel.
[[nodiscard]] bool next_diff_with(const diff_table& table, const unsigned char* a,
                                  const unsigned char* b, size_t n, size_t from, size_t gap,
                                  size_t& begin, size_t& end) noexcept;

}  // namespace scute::core::codec

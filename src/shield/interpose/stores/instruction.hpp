// SPDX-License-Identifier: BSD-3-Clause
// Decodes x86-64 instructions, as far as needed to find where the next one begins, and which ones
// write cache lines back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scute::core::interpose {

// The length of the instruction at code[0]; 0: there is none, or it is cut off.
size_t instruction_length(std::span<const uint8_t> code) noexcept;

// Whether, if an instruction begins at code[at], it is clflush, clflushopt or clwb: prefixes (66, a
// REX, a segment), 0F AE, and a ModRM byte of a memory operand. at is where its first prefix may
// be.
bool flush_begins(std::span<const uint8_t> code, size_t at) noexcept;

}  // namespace scute::core::interpose

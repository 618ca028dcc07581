// SPDX-License-Identifier: BSD-3-Clause
// x86-64 instructions, as far as it takes to tell where the
// next one begins, and which ones write cache lines back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scute::core::interpose {

// Bytes of the instruction that begins at code[0]; 0: there is none, or it is cut off.
size_t instruction_length(std::span<const uint8_t> code) noexcept;

// clflush, clflushopt or clwb begins at code[at], if an instruction does: prefixes (66, a REX, a
// segment), 0F AE, and a ModRM byte of a memory operand. at is where its first prefix may be.
bool flush_begins(std::span<const uint8_t> code, size_t at) noexcept;

}  // namespace scute::core::interpose

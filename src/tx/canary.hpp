// SPDX-License-Identifier: BSD-3-Clause
// Guard bytes before and after a micro-buffer (Pangolin 3.2): a write that runs over the end, or
// before the start, is noticed at commit and nothing of the transaction reaches the medium.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::tx {

inline constexpr uint64_t canary_size = 32;

// Fills n bytes with the process's canary pattern; poisons them under AddressSanitizer.
void plant_canary(std::byte* at, uint64_t n) noexcept;
// True if the n bytes still are the pattern. Works on poisoned bytes.
bool canary_intact(const std::byte* at, uint64_t n) noexcept;
void unpoison(const std::byte* at, uint64_t n) noexcept;

}  // namespace scute::tx

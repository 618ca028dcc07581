// SPDX-License-Identifier: BSD-3-Clause
// The parts into which the kernel divides this process's memory.
#pragma once

#include <cstdint>

namespace scute::core::interpose {

// Reports for each part, in order, where it begins and ends, and its access as in mprotect(2).
// Returns false if they cannot be known (no /proc), or not all. Async-signal-safe.
using memory_part_seen = void (*)(uintptr_t begin, uintptr_t end, int access);
bool each_part_of_memory(memory_part_seen seen) noexcept;

}  // namespace scute::core::interpose

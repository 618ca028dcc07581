// SPDX-License-Identifier: BSD-3-Clause
// The parts that the kernel has this process's memory in.
#pragma once

#include <cstdint>

namespace scute::core::interpose {

// Of each: where it begins and ends, and the access to it as mprotect(2) has it. In their order.
// False: it cannot be known (no /proc), or not all of it. Async-signal-safe.
using memory_part_seen = void (*)(uintptr_t begin, uintptr_t end, int access);
bool each_part_of_memory(memory_part_seen seen) noexcept;

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// The gates of instrumented images (scute/shield_hooks.h): they say where views lie.
#pragma once

namespace scute::core::interpose {

// In a critical section, after a range has entered the table and before the program has its address
// (HOOK-8).
void open_gates() noexcept;

}  // namespace scute::core::interpose

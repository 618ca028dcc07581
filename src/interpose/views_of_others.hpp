// SPDX-License-Identifier: BSD-3-Clause
// Views that other processes have, of which this one has descriptors and mappings (INHERIT-3).
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::core::interpose {

// The number is of the bytes of some view. (Programs send each other other files in memory as
// well.) Keeps errno.
bool is_of_some_view(int fd) noexcept;

// [at, at + n) has just been mapped from the number to be stored to. A part that finds no room is
// not remembered. Not in a critical section.
void remember_view_of_other(uintptr_t at, size_t n, int fd) noexcept;
// Something else is there now, or nothing. Not in a critical section; costs a load where there are
// none.
void forget_views_of_others(uintptr_t at, size_t n) noexcept;
// INHERIT-5: it is one whose process has no view any more, and so what was stored there lately is
//            in no file. Keep errno.
bool is_of_ended_view(uintptr_t at, size_t n) noexcept;
bool is_mapped_of_ended_view(int fd) noexcept;

}  // namespace scute::core::interpose

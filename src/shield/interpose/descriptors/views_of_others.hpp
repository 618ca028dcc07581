// SPDX-License-Identifier: BSD-3-Clause
// Views of other processes, of which this process has descriptors and mappings (INHERIT-3).
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::core::interpose {

// Whether the descriptor is of some view's bytes. (Programs also send each other other memory
// files.) Keeps errno.
bool is_of_some_view(int fd) noexcept;

// [at, at + n) has just been mapped from the descriptor, to be stored to. A part for which there is
// no room is not remembered. Not in a critical section.
void remember_view_of_other(uintptr_t at, size_t n, int fd) noexcept;
// The range now has another mapping, or none. Not in a critical section; costs a load if there are
// none.
void forget_views_of_others(uintptr_t at, size_t n) noexcept;
// INHERIT-5: whether it belongs to a view that no process has any more, so that recent stores there
// are in no file. Keep errno.
bool is_of_ended_view(uintptr_t at, size_t n) noexcept;
bool is_mapped_of_ended_view(int fd) noexcept;

}  // namespace scute::core::interpose

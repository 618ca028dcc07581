// SPDX-License-Identifier: BSD-3-Clause
// Copies and fills of libpmem and libpmem2 whose target is a view: plain stores, and the flush and
// the fence that the flags ask for.
#pragma once

#include <cstddef>

namespace scute::core::interpose {

// Both libraries use the same numbers. Hints how to store (non-temporal and so on) have no effect
// in a view.
enum store_flags : unsigned { store_no_drain = 1, store_no_flush = 32 };

void move_into_view(void* to, const void* from, size_t n, unsigned flags) noexcept;
void fill_view(void* to, int byte, size_t n, unsigned flags) noexcept;

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// The hook of loads (scute/shield_hooks.h) for code compiled with -fscute=loads: called as often as
// that of stores.
#pragma once

#include <cstddef>

#include "scute/shield_hooks.h"

namespace scute::core::interpose {

void on_load(const void* at, size_t n, const scute_shield_site* site);

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// The hook of stores (scute/shield_hooks.h), which is called most often. It has a file of its own,
// compiled for general registers only, so that its stub need not save vector registers.
#pragma once

#include <cstddef>

#include "scute/shield_hooks.h"

namespace scute::core::interpose {

void on_store(const void* at, size_t n, const scute_shield_site* site);

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// The hook of stores (scute/shield_hooks.h). Separate from the others, since it is called most
// often, and so its stub saves no vector registers.
#pragma once

#include <cstddef>

#include "scute/shield_hooks.h"

namespace scute::core::interpose {

void on_store(const void* at, size_t n, const scute_shield_site* site);

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// The hook of stores (scute/shield_hooks.h). It has a file of its own: it is the hook that is
// called most often, so its stub does not save vector registers.
#pragma once

#include <cstddef>

#include "scute/shield_hooks.h"

namespace scute::core::interpose {

void on_store(const void* at, size_t n, const scute_shield_site* site);

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// Limits that a test reduces, so that a small file shows what otherwise only large ones do.
#pragma once

#include <cstdint>

namespace scute::core::pool {

// About how many bytes of the user's file a zone of a new foreign pool has at most: somewhat less
// than a zone can hold, since tables and rounding take some.
extern uint64_t foreign_zone_bytes;

}  // namespace scute::core::pool

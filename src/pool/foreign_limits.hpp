// SPDX-License-Identifier: BSD-3-Clause
// What a test makes small, so that it meets in a small file what else only large ones have.
#pragma once

#include <cstdint>

namespace scute::core::pool {

// Bytes of the user's file that a zone of a new foreign pool has at most, about: somewhat less than
// the most that a zone can hold, for tables and rounding.
extern uint64_t foreign_zone_bytes;

}  // namespace scute::core::pool

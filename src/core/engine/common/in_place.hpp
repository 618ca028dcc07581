// SPDX-License-Identifier: BSD-3-Clause
// In-place ranges at the end of their transaction.
#pragma once

#include <span>

#include "core/tx/engine.hpp"

namespace scute::core::engine {

// Copies the bytes of the ranges to l.in_place, one range after the other. From then on a page of
// them that is lost can be rebuilt. If one was lost before, the transaction has lost its stores:
// throws failure(SCUTE_E_CORRUPT).
void keep_in_place(pool::state& s, pool::lane& l, std::span<const tx::inplace_range> ranges);

// Rolls the ranges back to their old bytes, durably. They stay open
// (core/tx/conflict.hpp, CONFLICT-3) until close_in_place(), which is called when no recovery can
// roll them back again.
void put_back(pool::state& s, pool::lane& l, std::span<const tx::inplace_range> ranges);
void close_in_place(pool::state& s, std::span<const tx::inplace_range> ranges) noexcept;

}  // namespace scute::core::engine

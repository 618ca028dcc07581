// SPDX-License-Identifier: BSD-3-Clause
// Copies of lines that a program may be storing to. Stores to one line become durable in their
// order, so a copy must be the line's contents at one moment: SHIELD-5. One aligned load of 64
// bytes makes such a copy on processors that have it (AVX-512). Intel's processors never divide it.
// On AMD's first ones, whose data path has half the width, 2.6 thousand million loads next to a
// storing thread showed no divided one; two loads of half a line were torn in one of 300,000.
// tests/view measures it on the machine that runs it. No other instruction suffices: comparing the
// copy with a second one does not prove it whole, since both may have met the same value. Without
// such a load, pages are guarded (backing.hpp, page_guard).
#pragma once

#include <cstddef>

#include "shield/view/line.hpp"

namespace scute::core::view {

// True if line_copy() is one load here. SCUTE_CPU can only forbid it.
bool line_copy_whole() noexcept;

// `from` is aligned to 64.
void line_copy(line& to, const std::byte* from) noexcept;

}  // namespace scute::core::view

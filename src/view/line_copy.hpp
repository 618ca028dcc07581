// SPDX-License-Identifier: BSD-3-Clause
// Copies of lines that a program may be storing to. Stores to one line become durable in their
// order, so a copy must be what the line was at one moment: SHIELD-5. One aligned load of 64 bytes
// is such a copy on the processors that have it (AVX-512): Intel's never divide it; of AMD's first
// ones, whose data path has half the width, 2.6 thousand million loads beside a storing thread
// showed none that was, against one in 300,000 for two loads of half a line. tests/view measures it
// on the machine it runs on. No other instruction does: a copy that is compared with a second one
// may have met the same value twice. Without it pages are guarded (backing.hpp, page_guard).
#pragma once

#include <cstddef>

#include "view/line.hpp"

namespace scute::core::view {

// True if line_copy() is one load here (SCUTE_CPU notwithstanding only if it allows AVX-512).
bool line_copy_whole() noexcept;

// `from` is aligned to 64.
void line_copy(line& to, const std::byte* from) noexcept;

}  // namespace scute::core::view

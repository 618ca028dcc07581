// SPDX-License-Identifier: BSD-3-Clause
// The whole granules that a range in place touches. Its records hold these.
#pragma once

#include "base/rounding.hpp"
#include "core/engine/speculative/block_table.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

struct granules {
  uint64_t begin, end;
  explicit granules(const tx::inplace_range& r) noexcept
      : begin(round_down(r.offset, granule_size)),
        end(round_up(r.offset + r.length, granule_size)) {}
};

}  // namespace scute::core::engine

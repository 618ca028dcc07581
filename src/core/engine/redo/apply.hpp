// SPDX-License-Identifier: BSD-3-Clause
// Writes a decided transaction to its places, block by block under their stripes (Pangolin 3.5).
#pragma once

#include "core/shared/state.hpp"

namespace scute::core::engine {

// Parity of up to this many bytes is changed by atomic XORs under a shared stripe; above, by vector
// instructions under an exclusive one. Measured (scute-bench parity) where a locked XOR takes 18
// cycles: the vector path is equal at 32 bytes and faster from there. That is far below the 8 KiB
// of the paper's machine; sharing a block pays off for headers only.
inline constexpr uint32_t atomic_parity_max = 32;

// Writes l.pieces to data and parity, and leaves (lane, l.sequence) as the blocks' owner. Durable
// at the lane's next fence.
void apply(pool::state& s, pool::lane& l) noexcept;

// Brings the parity up to the new bytes, of which `now` is a copy in DRAM, and ends the overlay.
void apply_in_place(pool::state& s, pool::lane& l, uint64_t offset, const std::byte* old,
                    const std::byte* now, uint64_t length) noexcept;

}  // namespace scute::core::engine

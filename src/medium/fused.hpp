// SPDX-License-Identifier: BSD-3-Clause
// Fused kernels: encode and persist in one pass over the lines (CodePM section IV-B). Each line of
// 64 bytes is pushed towards the medium as soon as it is computed, so that write-backs are under
// way while the next lines are. All that can be computed before the fence is, the new parity
// included: what follows the fence loads nothing from the pool. (Loads of parity there would even
// wait for the fence to be over, on CPUs that compare addresses by their low 12 bits: a cell and
// its parity agree in them.)
//
// They tell how far they have come, for a handler of a fault in the middle
// (pool/in_flight_write.hpp): the first *done bytes of dst have been read (of old, if that is
// elsewhere), and may hold what they are going to hold; the others hold what they held, and are
// still to be read. So it is whenever dst or parity is accessed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "medium/persist.hpp"

namespace scute::core::medium {

// n bytes of a commit's data phase. None of the ranges overlaps another one.
struct fused_piece {
  std::byte* dst;           // in the pool, as are the parity's bytes
  const std::byte* old;     // what counts as being there: dst itself, or bytes in DRAM
  const std::byte* src;     // new bytes
  const std::byte* parity;  // of dst's columns; read only
  std::byte* delta;         // DRAM: becomes old XOR src
  std::byte* next;          // DRAM: becomes parity XOR delta
  size_t n;
};

struct fused_ops {
  const char* name;  // of the vector instructions: "avx512", "avx2", "portable"
  // delta and next are computed, then dst = src and the write-back of its lines is started. From
  // nt_threshold on whole lines go past the cache.
  void (*encode)(const fused_piece& p, volatile uint32_t* done) noexcept;
  // dst = src with cached stores, and the write-back of its lines is started.
  void (*push)(void* dst, const void* src, size_t n, volatile uint32_t* done) noexcept;
};

// The widest that may be used (codec/cpu.hpp), with the flush of persist(). eadr: nothing is
// written back.
const fused_ops& fused(bool eadr) noexcept;

// For tests: all that this machine can run, the portable ones first. None of them writes back by
// another instruction than persist()'s.
inline constexpr size_t fused_variants = 3;
const fused_ops* fused_variant(size_t i) noexcept;  // null: not on this machine

}  // namespace scute::core::medium

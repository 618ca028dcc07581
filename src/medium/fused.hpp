// SPDX-License-Identifier: BSD-3-Clause
// Fused kernels: encode (or decode) and persist in one pass over the lines (CodePM section IV-B). Each
// line of 64 bytes is pushed towards the medium as soon as it is computed, so that write-backs are under
// way while the next lines are.
//
// Both tell how far they have come, for a handler of a fault in the middle (pool/hold.hpp): the first
// *done bytes of dst have been read, and may hold what they are going to hold; the others hold what they
// held, and are still to be read. So it is whenever dst is accessed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "medium/persist.hpp"

namespace scute::medium {

struct fused_ops {
  const char* name;  // of the vector instructions: "avx512", "avx2", "portable"
  // delta = what is at dst XOR src, then dst = src and the write-back of its lines is started. From
  // nt_threshold on whole lines go past the cache. Neither src nor delta may overlap dst.
  void (*encode)(void* dst, const void* src, void* delta, size_t n,
                 volatile uint32_t* done) noexcept;
  // dst ^= delta with cached stores, and the write-back of its lines is started.
  void (*fold)(void* dst, const void* delta, size_t n, volatile uint32_t* done) noexcept;
};

// The widest that the CPU has, with the flush of persist(). eadr: nothing is written back.
const fused_ops& fused(bool eadr) noexcept;

// For tests: all that this machine can run, the portable ones first. None of them writes back by
// another instruction than persist()'s.
inline constexpr size_t fused_variants = 3;
const fused_ops* fused_variant(size_t i) noexcept;  // null: not on this machine

}  // namespace scute::medium

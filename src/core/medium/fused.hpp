// SPDX-License-Identifier: BSD-3-Clause
// Fused kernels: encode and persist in one pass over the lines (CodePM section IV-B). Each line of
// 64 bytes is pushed towards the medium as soon as it is computed. So its write-back runs while the
// next lines are computed. Everything that can be computed before the fence is, also the new
// parity; code after the fence loads nothing from the pool. (Loads of parity there would even wait
// for the fence on CPUs that compare addresses by their low 12 bits: a cell and its parity have the
// same ones.)
//
// The kernels report their progress to a handler of a fault in the middle
// (core/shared/parity/in_flight_write.hpp). The first *done bytes of dst have been read (of old, if
// that is elsewhere), and may already hold their new contents. The others hold their old contents
// and will still be read. This holds at each access to dst or parity.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/medium/persist.hpp"

namespace scute::core::medium {

// n bytes of a commit's data phase. The ranges do not overlap.
struct fused_piece {
  std::byte* dst;           // in the pool, like parity
  const std::byte* old;     // the old contents: dst itself, or bytes in DRAM
  const std::byte* src;     // new bytes
  const std::byte* parity;  // of dst's columns; read only
  std::byte* delta;         // DRAM: becomes old XOR src
  std::byte* next;          // DRAM: becomes parity XOR delta
  size_t n;
};

struct fused_ops {
  const char* name;  // of the vector instructions: "avx512", "avx2", "portable"
  // Computes delta and next, then stores dst = src and starts the write-back of its lines. From
  // nt_threshold on, whole lines bypass the cache.
  void (*encode)(const fused_piece& p, volatile uint32_t* done) noexcept;
  // Stores dst = src through the cache and starts the write-back of its lines.
  void (*push)(void* dst, const void* src, size_t n, volatile uint32_t* done) noexcept;
};

// The widest kernels that may be used (codec/cpu.hpp), with the flush of persist(). eadr: without
// write-back.
const fused_ops& fused(bool eadr) noexcept;

// For tests: all kernels that this machine can run, the portable ones first. All write back by
// persist()'s instruction.
inline constexpr size_t fused_variants = 3;
const fused_ops* fused_variant(size_t i) noexcept;  // null: not on this machine

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
// A lane in memory: what one transaction at a time needs to write a log and to apply it. Its media
// side (status line and log ring, replicated) is described in pool/format.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "medium/medium.hpp"
#include "pool/byte_buffer.hpp"
#include "pool/format.hpp"
#include "pool/stripes.hpp"

namespace scute::pool {

// New bytes for a range of the pool. src stays valid until the commit that applies it returns.
struct patch {
  uint64_t offset = 0;
  const void* src = nullptr;
  uint32_t length = 0;
  medium::purpose why = medium::purpose::data;
};

// A part of a patch that stays inside one column block.
struct piece {
  uint64_t offset;  // in the file
  uint64_t parity;  // file offset of the parity of its first byte; 0 without parity
  const std::byte* src;
  uint32_t length;
  uint32_t stripe;
  medium::purpose why;
};

struct alignas(64) lane {
  lane(uint32_t i, medium::medium& m) : index(i), w(m) {}

  const uint32_t index;
  medium::writer w;

  uint64_t sequence = 0;                         // of the last log entry
  uint64_t transaction = 0;                      // of the last user transaction
  uint64_t ring_next = format::lane_log_offset;  // where the next entry goes
  uint64_t last_begin = 0, last_end = 0;         // where the last entry lies in the ring

  // Entries up to `applied` are in place and durable, and the status line says so in the cache;
  // entries up to `settled` can never be replayed again, whatever crashes (engine/redo.hpp, R5).
  alignas(64) std::atomic<uint64_t> applied{0};
  std::atomic<uint64_t> settled{0};
  // The last entry that was decided, set before anything of it is in place: while it differs from
  // `applied` the lane may be writing under any stripe.
  std::atomic<uint64_t> begun{0};

  // Scratch of the commit in progress, kept to save allocations.
  struct pending_settle {
    lane* other;
    uint64_t applied;
  };
  struct handled_many {
    uint32_t stripe;
    stripe_owner owner;
  };
  byte_buffer image;
  byte_buffer in_place;  // what in-place ranges hold at commit
  std::vector<piece> pieces;
  std::vector<pending_settle> settling;
  std::vector<handled_many> handled;
  alignas(64) std::byte scratch[4096];

  bool has_settled(uint64_t low_sequence) const noexcept {
    // Sequences are compared modulo 2^37, which is all a stripe word keeps. A word so old that the
    // difference wraps merely costs a needless flush.
    const uint64_t ahead =
        (settled.load(std::memory_order_acquire) - low_sequence) & stripe_owner::sequence_mask;
    return ahead < (uint64_t{1} << 36);
  }
  void raise_settled(uint64_t to) noexcept {
    uint64_t seen = settled.load(std::memory_order_relaxed);
    while (seen < to && !settled.compare_exchange_weak(seen, to, std::memory_order_release,
                                                       std::memory_order_relaxed)) {
    }
  }
};

}  // namespace scute::pool

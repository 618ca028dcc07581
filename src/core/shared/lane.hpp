// SPDX-License-Identifier: BSD-3-Clause
// A lane in memory: what one transaction at a time needs to write a log and to apply it.
// core/layout/format.hpp describes its part on the medium (status line and log ring, replicated).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/byte_buffer.hpp"
#include "core/layout/format.hpp"
#include "core/medium/medium.hpp"
#include "core/shared/parity/stripes.hpp"

namespace scute::core::pool {

// New bytes for a range of the pool. src stays valid until the commit that applies it returns.
struct patch {
  uint64_t offset = 0;
  const void* src = nullptr;
  uint32_t length = 0;
  medium::purpose why = medium::purpose::data;
  // The old bytes of the range, as its owner has verified them, valid as long as src; or null: take
  // those in the pool (COL-3).
  const void* verified = nullptr;
};

// A part of a patch that stays inside one column block.
struct piece {
  uint64_t offset;  // in the file
  uint64_t parity;  // file offset of the (first) parity of its first byte; 0 without parity
  const std::byte* src;
  uint32_t length;
  uint32_t stripe;
  medium::purpose why;
  // Windows only:
  std::byte* delta = nullptr;  // old XOR new, once the data phase has computed it
  std::byte* next = nullptr;   // the new parity, also computed then; several one after the other
  // in-place range: its old bytes; src is a copy of the present ones
  const std::byte* old = nullptr;
  const std::byte* verified = nullptr;  // of a patch: its verified old bytes, or null (COL-3)
};

// Bytes of the columns, zone after zone: zone * row size + offset in the row.
struct column_range {
  uint64_t begin, end;
  bool alone = false;  // may share columns with nothing else of its transaction
};
struct parity_range {
  uint64_t offset;  // of the file
  uint32_t length;
};

// The columns that a log-free commit has open, or has left open (core/engine/logfree/window.hpp).
struct window_columns {
  std::vector<uint32_t> stripes;  // held, ascending
  std::vector<column_range>
      columns;           // whole extents of its members, ascending, none overlaps another
  bool stacked = false;  // some column has several cells of these members
  std::vector<parity_range> parity;  // stored; written back by the end of a deferred window
  bool roomy = false;  // it, and lane::pieces, have the room that a short commit takes (SHORT-4)

  bool has(uint32_t stripe) const noexcept {
    if (stripes.size() > 12) return std::binary_search(stripes.begin(), stripes.end(), stripe);
    for (const uint32_t x : stripes)
      if (x == stripe) return true;
    return false;
  }
  void clear() noexcept {
    stripes.clear();
    columns.clear();
    stacked = false;
    parity.clear();
  }
};

// How far a lane's window under way has come (core/engine/logfree/window.hpp, WIN-6).
enum class window_point : uint8_t { closed, planned, open, data, parity };

// How far a phase of a window has come, for a signal handler in the same thread.
struct window_progress {
  volatile uint64_t piece = 0;  // in the parity phase piece * P + parity
  volatile uint32_t done = 0;   // bytes of it

  void begin(uint64_t i, uint32_t bytes = 0) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    done = bytes;
    piece = i;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

struct alignas(64) lane {
  lane(uint32_t i, medium::medium& m) : index(i), w(m), drain_writer(m), spill_writer(m) {}

  const uint32_t index;
  medium::writer w;

  uint64_t sequence = 0;                        // of the last log entry or log-free commit
  uint64_t logged = 0;                          // of the last log entry; 0: none yet
  uint64_t transaction = 0;                     // of the last user transaction
  uint64_t log_next = format::lane_log_offset;  // where the next entry goes
  uint64_t last_begin = 0, last_end = 0;        // where the last entry lies in the ring

  // Entries up to `applied` are in place and durable, and the status line says so in the cache;
  // entries up to `invalid_up_to` can never be replayed again, whatever crashes
  // (core/engine/redo/redo.hpp, REDO-5).
  alignas(64) std::atomic<uint64_t> applied{0};
  std::atomic<uint64_t> invalid_up_to{0};
  // The last entry that was decided, set before anything of it is in place: while it differs from
  // `applied` the lane may be writing under any stripe.
  std::atomic<uint64_t> begun{0};

  // Windows: the one under way and the one before it, which may be deferred (WIN-2). While it is,
  // the thread that gets `deferral` from deferred to draining owns `last`, and `drain_writer` to
  // write with; else the lane owns `last`, and no thread has a use for `drain_writer`.
  window_columns windows[2];
  uint32_t current = 0;  // which of them is the one under way
  window_point point = window_point::closed;
  window_columns& now() noexcept { return windows[current]; }
  window_columns& last() noexcept { return windows[current ^ 1]; }
  const window_columns& now() const noexcept { return windows[current]; }
  const window_columns& last() const noexcept { return windows[current ^ 1]; }
  window_progress progress;
  byte_buffer deltas;
  alignas(64) std::atomic<uint32_t> deferral{0};
  medium::writer drain_writer;

  // In-place ranges of the running transaction that hold their columns
  // (core/engine/logfree/column_reservation.hpp).
  window_columns reserved;
  byte_buffer undo_image;  // the undo entry that they would need if they had to let go
  // The thread that gets `reservation` to spilling writes with `spill_writer`. Another one may be
  // draining meanwhile, so this is not `drain_writer`: a writer belongs to one thread from its
  // first store to its fence.
  alignas(64) std::atomic<uint32_t> reservation{0};
  medium::writer spill_writer;

  // Scratch of the commit in progress, kept to save allocations.
  struct pending_invalidation {
    lane* other;
    uint64_t applied;
  };
  struct handled_many {
    uint32_t stripe;
    stripe_owner owner;
  };
  byte_buffer image;
  std::vector<uint32_t> object_locks;  // of the commit, ascending
  byte_buffer in_place;                // the bytes of in-place ranges at commit
  std::vector<piece> pieces;
  std::vector<pending_invalidation> invalidating;
  std::vector<handled_many> handled;
  alignas(64) std::byte scratch[4096];

  // The stripe is held for one of its windows, or for its in-place ranges.
  bool has_stripe(uint32_t stripe) const noexcept {
    return now().has(stripe) || last().has(stripe) || reserved.has(stripe);
  }
  bool has_invalidated(uint64_t low_sequence) const noexcept {
    // Sequences are compared modulo 2^37, which is all a stripe word keeps. A word so old that the
    // difference wraps merely costs a needless flush.
    const uint64_t ahead = (invalid_up_to.load(std::memory_order_acquire) - low_sequence) &
                           stripe_owner::sequence_mask;
    return ahead < (uint64_t{1} << 36);
  }
  void raise_invalid_up_to(uint64_t to) noexcept {
    uint64_t seen = invalid_up_to.load(std::memory_order_relaxed);
    while (seen < to && !invalid_up_to.compare_exchange_weak(seen, to, std::memory_order_release,
                                                             std::memory_order_relaxed)) {
    }
  }
};

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
// Records what the calling thread is writing to a column block. If a page of that column is lost
// meanwhile, the handler of the fault (core/repair/page_repair.hpp) finds here which bytes are old,
// which are new and where both are. So it can rebuild the page in the middle of a commit.
//
// INFLIGHT-1 A thread that holds a stripe touches only pages of that stripe's column, and records
//    here which stripe it is and how far it has come. Signal fences keep stores to this record and
//    to the medium in program order, as a handler in the same thread sees them. A record is about
//    one stripe, or one window's stripes, at a time.
// INFLIGHT-2 While a commit writes a piece, the bytes that the piece's part of the parity page and
//    of the data page must end up with are in DRAM: see `phase`.
// INFLIGHT-3 The one exception to INFLIGHT-1: a read of another column that fails if the page is
//    lost, instead of having it rebuilt (medium::read_unless_lost).
//
// About INFLIGHT-3: a campaign has found that a repair which reads a header again, under the stripe
// of its payload, was ended by the signal of a page that was lost in between. The same could happen
// when a transaction found a header changed under its window, and tested it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/failure.hpp"
#include "base/process/thread_block.hpp"

namespace scute::core::pool {

struct state;
struct lane;

struct in_flight_write {
  enum class mode : uint8_t { exclusive, shared };
  enum class phase : uint8_t {
    reading,  // nothing of the piece has been written; or no piece is being written at all
    parity,   // parity is being written. Exclusive: `fresh_parity` holds what the piece's part must
    // become, of several parities one after the other. Shared: the first `done` bytes of `delta`
    // are in the parity
    data  // parity is complete, data is being written: `fresh_data` is what it must become
  };

  const state* pool = nullptr;  // null: no stripe is held
  // A window's stripes are held, all of this lane's (core/engine/logfree/window.hpp). The phase
  // says how much of lane::pieces is done:
  //
  //   data     `done` bytes of the piece in progress, and all pieces before it, are in place or
  //            about to be, with their deltas in DRAM; the parity is the old one
  //   parity   all data is in place; the deltas of as many bytes are in the parity, or about to
  //            be. Of several parities each piece's come one after the other
  //   reading  data and parity agree
  const lane* window = nullptr;
  // Which of the lane's windows. deferred: the thread drains another lane, whose own thread may be
  // planning its next one.
  enum class share : uint8_t { all, deferred };
  share of = share::all;
  uint32_t stripe = 0;
  bool shared = false;
  phase now = phase::reading;
  uint32_t length = 0;  // of the piece
  uint32_t done = 0;
  uint64_t data = 0, parity = 0;  // file offsets of the piece and of its parity
  const std::byte* fresh_data = nullptr;
  const std::byte* fresh_parity = nullptr;
  const std::byte* delta = nullptr;
};

inline in_flight_write& this_thread_in_flight() noexcept {
  return part_of_thread<in_flight_write>(own_thread_block().in_flight_write);
}

// In the life of an in_flight_scope.
inline in_flight_write& held_in_flight() noexcept {
  return part_of_thread<in_flight_write>(present_thread_block().in_flight_write);
}

// Records the stripe that the thread holds, while an object lives.
class in_flight_scope {
 public:
  in_flight_scope(const state& s, uint32_t stripe, in_flight_write::mode m) noexcept {
    in_flight_write& h = this_thread_in_flight();
    SCUTE_ASSERT(h.pool == nullptr);
    h.stripe = stripe;
    h.shared = m == in_flight_write::mode::shared;
    h.now = in_flight_write::phase::reading;
    h.length = h.done = 0;
    h.window = nullptr;
    h.pool = &s;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // The stripes of a window, or of one that is being drained for its lane.
  in_flight_scope(const state& s, const lane& l, in_flight_write::phase p,
                  in_flight_write::share of = in_flight_write::share::all) noexcept {
    in_flight_write& h = this_thread_in_flight();
    SCUTE_ASSERT(h.pool == nullptr);
    h.of = of;
    h.shared = false;
    h.now = p;
    h.length = h.done = 0;
    h.window = &l;
    h.pool = &s;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~in_flight_scope() {
    in_flight_write& h = held_in_flight();
    SCUTE_ASSERT(h.pool != nullptr);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    h.pool = nullptr;
    h.window = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  in_flight_scope(const in_flight_scope&) = delete;
  in_flight_scope& operator=(const in_flight_scope&) = delete;

  // The piece that is about to be written (INFLIGHT-2).
  static void piece(uint64_t data, uint64_t parity, uint32_t length, const std::byte* fresh_data,
                    const std::byte* fresh_parity, const std::byte* delta) noexcept {
    in_flight_write& h = held_in_flight();
    SCUTE_ASSERT(h.pool != nullptr && h.window == nullptr);
    h.data = data;
    h.parity = parity;
    h.length = length;
    h.fresh_data = fresh_data;
    h.fresh_parity = fresh_parity;
    h.delta = delta;
  }
};

inline void enter_phase(in_flight_write::phase p) noexcept {
  in_flight_write& h = held_in_flight();
  SCUTE_ASSERT(h.pool != nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  h.now = p;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
// Allocator steps that become durable with the transaction that needs them, if a step of their own
// would cost a sync (step_engine::takes_steps_along). Chunks come into use, become runs or spans,
// and runs get further slots, in memory only. The first transaction that commits a new object takes
// all of it along as patches of its own.
//
//   pending --a transaction that allocates, or make_pending()--> in one record
//   in one record --decided and applied--> no longer pending
//
// The state after a crash, or after closing:
//   pending               nothing. The medium has the chunks as they were, and no durable object
//                         lies in a pending slot or chunk
//   in a transaction      all of it, or nothing, as of the transaction
//   in make_pending()     some steps of it, each as a whole, in an order in which each stands alone
//
// PEND-1 A transaction that has allocated commits all that is pending in its own record, or waits
//    for one that does so. One at a time takes it along, and nothing ceases to be pending before it
//    is decided and applied. So no durable object lies in a slot or chunk that the medium does not
//    record.
// PEND-2 The marks that other threads read (chunk_record::formatted, zone::high_water) rise, and
//    chunks are a span for them, only when the headers are in their places. The heap itself uses
//    `prepared`, and `pending_span`.
// PEND-3 The header of a pending slot, and the first one of a pending span, says free, unless the
//    transaction itself has an object there. Objects of other transactions there are committed
//    later, and so override it.
// PEND-4 Everything that is pending is made durable before another step, before a bulk prewrite,
//    and before runs are emptied for another use. Otherwise it would overwrite the headers that
//    these write, or lie in a chunk that has changed.
// PEND-5 The amount that others have left pending is bounded: a transaction must have room for it
//    in its log. More becomes durable by steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/byte_buffer.hpp"
#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "core/heap/chunk_record.hpp"
#include "core/shared/lane.hpp"

namespace scute::core::heap {

class zone_table;

// Chunks of a pending span: 16 MiB of the smallest ones, and headers. Longer spans are made by
// steps: a transaction may have no room for so many headers.
inline constexpr uint32_t pending_span_max = 1040;

struct pending_steps {
  // Held by a transaction that takes the steps along, or by a thread that adds to them. Taken after
  // zone_table::chunk_mutex, before the locks of chunks and all that a commit takes.
  waiting_mutex mutex;
  std::atomic<bool> any{false};
  std::vector<chunk_record*> runs SCUTE_GUARDED_BY(mutex);   // formatted < prepared
  std::vector<uint64_t> zones SCUTE_GUARDED_BY(mutex);       // high_water < prepared
  std::vector<chunk_record*> spans SCUTE_GUARDED_BY(mutex);  // their heads
  uint64_t slots SCUTE_GUARDED_BY(mutex) = 0;                // of the runs
  std::vector<pool::patch> patches SCUTE_GUARDED_BY(mutex);
  byte_buffer images SCUTE_GUARDED_BY(mutex);  // of the patches, with room for all from the start

  template <typename Header>
  void add(uint64_t offset, const Header& h) SCUTE_REQUIRES(mutex) {
    std::byte* const at = images.extend(sizeof h);
    std::memcpy(at, &h, sizeof h);
    patches.push_back({offset, at, sizeof h, medium::purpose::metadata});
  }
};

// A transaction takes along what is pending. No thread adds to it meanwhile. False (below) if
// nothing is pending, or it has allocated nothing.
class taking_along {
 public:
  taking_along(zone_table& z,
               bool allocates) SCUTE_NO_LOCK_ANALYSIS;  // taken if anything is pending
  ~taking_along() SCUTE_NO_LOCK_ANALYSIS;
  taking_along(const taking_along&) = delete;
  taking_along& operator=(const taking_along&) = delete;

  explicit operator bool() const noexcept { return zones_ != nullptr; }
  // All patches, except for the headers of slots at these file offsets, which are ascending. Valid
  // as long as this lives.
  std::span<const pool::patch> patches(const pool::lane& l,
                                       std::span<const uint64_t> but) SCUTE_NO_LOCK_ANALYSIS;
  // They are decided, and in their places.
  void made() noexcept SCUTE_NO_LOCK_ANALYSIS;

 private:
  zone_table* zones_ = nullptr;
};

}  // namespace scute::core::heap

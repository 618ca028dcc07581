// SPDX-License-Identifier: BSD-3-Clause
// Room in the log of engine `spec`: a transaction asks for it before it appends. The log also has
// to be always large enough for the undo records of ranges that are open in place. A checkpoint
// makes room; where that is not enough, because one transaction alone is larger than the log, the
// heap lends more chunks, and they go back when all is checkpointed.
//
//   lent by the heap --listed durably--> segments of the log --all free, list without them
//   durable--> back to the heap
//
// ROOM-1 Chunks are in the durable list before a segment in them is taken, and back at the heap
//    after a list without them is durable. So a crash leaves them in the list, or lent and
//    unlisted, which the next open takes back.
// ROOM-2 No thread lends from within an allocator step: the heap's lock is held there. So there is
//    always room for steps: two segments for each lane, one that it is at and one that comes next,
//    are kept free of reservations.
// ROOM-3 Room for ranges in place is reserved twice: the undo records before a checkpoint are void
//    only after it.
// ROOM-4 No caller is refused, and nothing lent, for want of segments that a checkpoint brings
//    back: those that are full, and those that other lanes have taken, which are about to be
//    (CLOG-6).
// ROOM-5 No object is refused room while the log has lent chunks that it does not need: everything
//    is checkpointed then, and they go back. (Commits look for that as well, but the last one
//    before a large object may be the one that lent them.)
// ROOM-6 A thread that reserves counts its bytes first. Then it looks whether the checkpoint keeps
//    enough for all that is counted. So of two threads that do it at once the second sees the
//    first.
// ROOM-7 The kept amount falls only by keep_less(), which says so first and then looks again at
//    what is counted. A transaction's end only counts: as long as few bytes are open nothing is
//    kept again, nor given back.
// ROOM-8 A thread that commits while the log is nearly full checkpoints a part of the blocks, once
//    for each segment that any lane begins. So no commit waits for a checkpoint of the whole pool,
//    and a truncation point that others hold back costs no checkpoint with each commit.
// ROOM-9 A log in a file of its own is as long as it was made, when nothing is in it any more: a
//    closing and the background see to that, not the next commit alone, which may never come. So a
//    look of the background that leaves the file longer is not its last one (IDLE-1), unless ranges
//    in place have room reserved, maybe for long: their end, or the failure to open them, wakes it,
//    as lending does.
#pragma once

#include <atomic>

#include "base/lock.hpp"
#include "base/waiting.hpp"
#include "engine/speculative/checkpoint.hpp"
#include "engine/speculative/commit_log.hpp"

namespace scute::core::engine {

class log_room {
 public:
  log_room(pool::state& s, log_location& location, commit_log& log, checkpoint& f,
           segment_list list);

  // Checkpoints some of it if the log is nearly full. Before anything is taken, and without the
  // stream (CLOG-6, CLOG-7).
  void help() {
    if (log_.is_nearly_full()) help_checkpoint();
  }
  // Room for these records, which come next in the lane. False if checkpoints do not make it: then
  // lend() may.
  bool make(pool::lane& l, std::span<const log_range> records, commit_log::stream_guard& turn);
  // Makes the log larger by what this takes. Runs allocator steps in the lane. Throws
  // SCUTE_E_NOSPC.
  void lend(pool::lane& l, const commit_log::need& n);
  [[noreturn]] void refuse(const commit_log::need& n) const;
  // Bytes of records of one transaction for which lend() finds room for certain if it can have so
  // many chunks. Any thread without the heap's lock.
  uint64_t records_for(uint64_t chunks);

  // The undo records that checkpoints may have to write for a range that a lane has open in place.
  // Returns what release() takes. Throws SCUTE_E_NOSPC. Lends, if it has to.
  uint64_t reserve(pool::lane& l, uint64_t offset, uint64_t bytes);
  void release(uint64_t reserved) noexcept;
  // The checkpoint keeps no more than the present reservations need. Any thread.
  void keep_less() noexcept;

  bool is_larger() const noexcept { return larger_.load(std::memory_order_relaxed); }
  bool is_reserved() const noexcept { return open_bytes_.load() != 0; }
  // Gives back what lend() has added, if nothing is in it. True if nothing lent is left. Outside of
  // steps, in the lane's thread, nothing planned in the lane; of a log in a file of its own any
  // thread, and any lane.
  bool take_off(pool::lane& l) noexcept;
  // The same, once for each truncation point.
  void shrink(pool::lane& l) noexcept;

  // Checkpoints all, and does the same, as often as other lanes have something in it (ROOM-5).
  // True if chunks have gone back. No thread has the heap's lock. Throws SCUTE_E_IO,
  // std::bad_alloc.
  bool give_back(pool::lane& l);

  // Runs fn(list) while the list stays as it is.
  template <typename Fn>
  void with_list(Fn&& fn) {
    const locked turn(list_mutex_);
    fn(static_cast<const segment_list&>(list_));
  }

 private:
  void help_checkpoint();
  void lend_segments(pool::lane& l, uint64_t segments);
  void keep_enough(pool::lane& l);
  uint64_t segments_of(uint64_t reserved) const noexcept;

  pool::state& s_;
  log_location& location_;
  commit_log& log_;
  checkpoint& checkpoint_;
  waiting_mutex list_mutex_;  // taken before the heap's
  segment_list list_;         // of the thread that has list_mutex_
  std::atomic<bool> larger_{false};
  std::atomic<uint64_t> looked_at_{
      0};  // the truncation point at the last look for what could go back
  std::atomic<uint64_t> helped_at_{0};  // segments begun by then (ROOM-8)
  std::atomic<uint64_t> open_bytes_{0};
  waiting_mutex open_mutex_;                            // of a thread that changes kept_
  std::atomic<uint64_t> kept_{commit_log::kept_least};  // segments, for open_bytes_
};

}  // namespace scute::core::engine

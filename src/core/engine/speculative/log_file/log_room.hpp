// SPDX-License-Identifier: BSD-3-Clause
// Room in the log of engine `spec`: a transaction asks for it before it appends. The log must also
// always have room for the undo records of ranges that are open in place. A checkpoint makes room.
// If one transaction alone is larger than the log, the heap lends more chunks. They go back when
// everything is checkpointed.
//
//   lent by the heap --listed durably--> segments of the log
//   segments of the log --all free, list without them durable--> back to the heap
// (A log in a file of its own is lent chunks by the file: LOGFILE-6, ROOM-10.)
//
// ROOM-1 Chunks are in the durable list before a segment in them is taken, and back at the heap
//    after a list without them is durable. So a crash leaves them in the list, or lent and
//    unlisted; the next open takes the latter back.
// ROOM-2 The heap lends nothing within an allocator step, which holds its lock. So there is always
//    room for steps: two segments for each lane, its present one and the next one, are never
//    reserved.
// ROOM-3 Room for ranges in place is reserved twice: the undo records from before a checkpoint are
//    void only after it.
// ROOM-4 No caller is refused, and nothing lent, for want of segments that a checkpoint makes free:
//    those that are full, and those that other lanes have taken, which are about to be (CLOG-6).
// ROOM-5 No object is refused room while the log has lent chunks that it does not need: everything
//    is checkpointed then, and they go back. (Commits give chunks back as well, but the last commit
//    before a large object may be the one that lent them.)
// ROOM-6 A thread that reserves counts its bytes first. Then it checks that the checkpoint keeps
//    enough for all that is counted. So of two threads that do it at once the second sees the
//    first.
// ROOM-7 Only keep_less() lowers the kept amount: it stores the lower number first, and then reads
//    again what is counted. A transaction's end only counts. So as long as few bytes are open no
//    segments are kept, or given back, again and again.
// ROOM-8 A thread that commits while the log is nearly full checkpoints a part of the blocks, once
//    for each segment that any lane begins. So no commit waits for a checkpoint of the whole pool.
//    A truncation point that others hold back does not cost a checkpoint with each commit. (Where
//    each checkpoint costs syncs of two files it is one of all blocks, and rare: ROOM-10.)
// ROOM-9 A log in a file of its own has its original length when it is idle. A closing and the
//    background see to that; a commit does not, since it would soon grow again. So the background
//    looks again as long as the file is longer (IDLE-1), unless room for ranges in place is
//    reserved.
// ROOM-10 A log in a file grows, with one sync of that file (LOGFILE-6), before a commit waits for
//    a checkpoint, which syncs two: up to four times its size, and from there on by what one
//    transaction alone needs. Each time it grows by as much as it was made with, so syncs are few.
//    Where the file system is full the commit waits.
//
// On ROOM-9: such room may be reserved for long. The end of the ranges, or the failure to open
// them, wakes the background, as lending does.
#pragma once

#include <atomic>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "core/engine/speculative/checkpoint.hpp"
#include "core/engine/speculative/commit_log.hpp"

namespace scute::core::engine {

class log_room {
 public:
  log_room(pool::state& s, log_location& location, commit_log& log, checkpoint& f,
           segment_list list);

  // Checkpoints a part if the log is nearly full. To be called before anything is taken, and
  // without the stream (CLOG-6, CLOG-7).
  void help() {
    if (log_.is_nearly_full()) help_checkpoint();
  }
  // Makes room for these records, which come next in the lane. Returns false if checkpoints do not
  // make it: then lend() may.
  bool make(pool::lane& l, std::span<const log_range> records, commit_log::stream_guard& turn);
  // Whether commit() should log so many bytes of new objects: there is room, or will be. Grows the
  // log if that is cheap (ROOM-10).
  bool has_room_for(pool::lane& l, uint64_t bytes);
  // Enlarges the log by what these frames take. Runs allocator steps in the lane. Throws
  // SCUTE_E_NOSPC.
  void lend(pool::lane& l, const commit_log::need& n);
  [[noreturn]] void refuse(const commit_log::need& n) const;
  // The bytes of records of one transaction for which lend() certainly finds room if it can have so
  // many chunks. Any thread without the heap's lock.
  uint64_t records_for(uint64_t chunks);

  // Reserves room for the undo records that checkpoints may have to write for a range that a lane
  // has open in place. Returns the argument for release(). Lends, if it has to. Throws
  // SCUTE_E_NOSPC.
  uint64_t reserve(pool::lane& l, uint64_t offset, uint64_t bytes);
  void release(uint64_t reserved) noexcept;
  // Lets the checkpoint keep no more than the present reservations need. Any thread.
  void keep_less() noexcept;

  bool is_larger() const noexcept { return larger_.load(std::memory_order_relaxed); }
  bool is_reserved() const noexcept { return open_bytes_.load() != 0; }
  // Gives back the chunks that lend() has added, if nothing is in them. Returns true if no lent
  // chunk is left. To be called outside of steps, in the lane's thread, with nothing planned in the
  // lane. For a log in a file of its own: any thread, and any lane.
  bool take_off(pool::lane& l) noexcept;
  // The same, once for each truncation point; not for a log in a file of its own (ROOM-9).
  void shrink(pool::lane& l) noexcept;

  // Checkpoints everything and does the same, and repeats that while other lanes have something in
  // it (ROOM-5). Returns true if chunks have gone back. The caller must not hold the heap's lock.
  // Throws SCUTE_E_IO, std::bad_alloc.
  bool give_back(pool::lane& l);

  // Runs fn(list) while the list does not change.
  template <typename Fn>
  void with_list(Fn&& fn) {
    const locked turn(list_mutex_);
    fn(static_cast<const segment_list&>(list_));
  }

 private:
  void help_checkpoint();
  bool grow(pool::lane& l, const commit_log::need& n);
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

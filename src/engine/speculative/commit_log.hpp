// SPDX-License-Identifier: BSD-3-Clause
// The log of engine `spec`: segments (log/segment.hpp) of which each lane fills one at a time, and
// the truncation point, the LSN up to which all frames are void.
//
//   free --a lane needs room--> in use --it is full--> full --the durable truncation point passes
//   its last frame--> free
//
// CLOG-1 A segment is begun again only when the *durable* truncation point has passed all its
//    frames (SPEC-8). Its generation is higher than any before in this session, and its head
//    repeats that truncation point.
// CLOG-2 The truncation point never falls (SPEC-5), engine switches and epochs included. It is in
//    two places that are written by turns, in all copies of lane 0; a fence later it is durable.
//    (Where a segment has been used again, its head has it, too: so no explorer can find anything
//    wrong with one place.)
// CLOG-3 One thread at a time appends for a lane. Segments are kept back for the checkpoint, which
//    has a lane of its own: it may always append what it has to renew, and never takes more, so
//    that it leaves the others theirs while a commit under way holds the truncation point back.
// CLOG-4 Segments may be added while others are used, and taken off again when all that were added
//    are free. They are the last ones, and taken last; and no lane stays at one when what it has
//    appended is fenced, since a lane without work would keep it permanently. (A stream that lanes
//    share may: the thread that takes segments off has the stream, and leaves it.)
// CLOG-5 Frames of a lane are fenced when the fence that follows them has returned: from then on
//    all copies have them, and frames that a copy lacks are damage (log_scrubber.hpp).
// CLOG-6 A thread that has taken segments appends to all of them without waiting for anything but
//    stripes, and takes none while it waits. So segments that other threads have taken come back,
//    and are worth waiting for, like full ones.
// CLOG-7 Frames of one stream with one LSN are parts of one whole. So where lanes share a stream,
//    one transaction at a time draws an LSN for it and appends, and the next one's is higher. A
//    fence there covers all that was appended before, by any thread. No thread has the stream
//    while it checkpoints, which takes a sync of the pool. It then asks again for the room that it
//    has found before.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/lock.hpp"
#include "base/planted.hpp"
#include "base/waiting.hpp"
#include "engine/speculative/log_location.hpp"
#include "log/segment_writer.hpp"

namespace scute::core::engine {

enum frame_flags : uint32_t {
  frame_final = 1,       // the last part of the transaction or step that is decided with it
  frame_step = 2,        // of the library's own, no user's transaction
  frame_part_shift = 8,  // from here on: the number of the part, from 0
};

// A range, and what it holds; bytes null: of kind placed.
struct log_range {
  uint64_t offset;
  const std::byte* bytes;
  uint64_t length;
  format::record_kind kind;
};

class commit_log {
 public:
  // Nothing of the list's segments is needed but frames above `truncation_point`, if any are left:
  // those segments are given with the LSN of their last frame, the others with 0.
  commit_log(pool::state& s, log_location& location, const segment_list& list,
             uint64_t truncation_point, const std::vector<uint64_t>& last_frames);

  // While it lives no other thread appends to the stream that all lanes share, if they do
  // (log_location::is_apart()): from the question for room to the last frame, and neither over a
  // fence nor while anything is pinned before it began. Sequences are drawn within, so those of
  // the stream grow (CLOG-7). Taken before stripes, and before the checkpoint's lock.
  class stream_guard {
   public:
    explicit stream_guard(commit_log& log)
        SCUTE_NO_LOCK_ANALYSIS;  // taken where lanes share a stream
    ~stream_guard() { end(); }
    stream_guard(const stream_guard&) = delete;
    stream_guard& operator=(const stream_guard&) = delete;
    void end() noexcept SCUTE_NO_LOCK_ANALYSIS;  // as well
    // Runs fn() while others may append: whatever was found of room before is to be asked for
    // again.
    template <typename Fn>
    void without(Fn&& fn) SCUTE_NO_LOCK_ANALYSIS {
      if (held_ != nullptr) held_->unlock();
      try {
        fn();
      } catch (...) {
        held_ = nullptr;
        throw;
      }
      if (held_ != nullptr) held_->lock();
    }

   private:
    waiting_mutex* held_;
  };

  // Frames that these records take, with what the lane has appended by now: how many, their bytes,
  // and how many of these the first one may have in the lane's segment; 0: it begins another.
  struct need {
    size_t frames;
    uint64_t bytes, first;
  };
  need need_of(uint32_t lane, std::span<const log_range> records) const noexcept;
  // Room for them, in the lane's segment or in others. False, with nothing lost, if too few
  // segments are free. Writes nothing, so stripes may be held. Nothing else is appended in the lane
  // before them.
  bool make_room(uint32_t lane, const need& n);
  // The same for what is one frame and fits the segment that the lane is at, as nearly always; else
  // false, and make_room() has to find out.
  bool has_room(uint32_t lane, std::span<const log_range> records);
  // There will be, when all that is full or taken by now is checkpointed: so it is worth waiting
  // for (CLOG-6).
  bool will_have_room(const need& n);
  // Appends them as parts of one whole. There is room; durable by the lane's fence().
  void append(medium::writer& w, uint32_t lane, std::span<const log_range> records, uint32_t flags,
              uint64_t lsn, uint64_t transaction) noexcept;
  // Bytes of a segment that frames of many different sizes find at least: they are cut where it
  // ends (need_of).
  uint64_t usable() const noexcept {
    return layout_.frame_max() - split_min() - 2 * bytes_of_frame(0) - 128;
  }
  // Bytes of records that a frame of their own holds, wherever they are divided.
  uint64_t records_in_frame() const noexcept;
  // Frames of the lane up to this LSN, its last one, are durable. In its thread.
  void fenced(uint32_t lane, uint64_t lsn) noexcept {
    lane_end& l = lanes_[stream_of(lane)];
    uint64_t before = l.fenced.load(std::memory_order_relaxed);
    while (before < lsn && !l.fenced.compare_exchange_weak(before, lsn, std::memory_order_release,
                                                           std::memory_order_relaxed)) {
    }
    // CLOG-4. Others append to a shared stream meanwhile, so nothing of it is looked at here.
    if (!is_shared(lane) && l.in && *l.in >= made_with_) leave_added(lane);
  }
  // Bytes of a segment that a frame with so many bytes of records takes.
  uint64_t bytes_of_frame(uint64_t records) const noexcept {
    return layout_.lines_of(records + sizeof(format::frame_head)) * log::line_size;
  }
  uint32_t checkpoint_lane() const noexcept { return s_.geo.lane_count; }
  bool is_apart() const noexcept { return !own_.empty(); }
  // Makes durable what the lane has appended, or what was written of the truncation point (by the
  // checkpoint's lane), unless the pool has failed. w: with which that was done.
  void fence(medium::writer& w, uint32_t lane, fence_site at) noexcept;
  // Changes with whatever lanes append, once it is fenced.
  uint64_t appended() const noexcept {
    uint64_t all = 0;
    for (uint32_t i = 0; i < checkpoint_lane(); ++i)
      all += lanes_[i].fenced.load(std::memory_order_relaxed);
    return all;
  }
  // Sequences of a shared stream, in a turn: the last one that was drawn; 0 if each lane has a
  // stream of its own.
  uint64_t drawn() const noexcept { return SCUTE_PLANTED(clog_drawn) ? 0 : drawn_; }
  void drawn(uint64_t lsn) noexcept {
    if (is_apart()) drawn_ = lsn;
  }

  // Streams it; to be called in ascending order, by one thread at a time. Durable by the fence of
  // the checkpoint's lane, then say so.
  void write_truncation_point(medium::writer& w, uint64_t lsn) noexcept;
  // Makes durable what write_truncation_point() or repeat_truncation_point() has streamed by this
  // writer.
  void fence_truncation_point(medium::writer& w) noexcept {
    fence(w, checkpoint_lane(), fence_site::truncation_point);
  }
  void truncation_point_is_durable() noexcept;
  // TRUNC-1: streams it to the other place as well; the one that has it is durable. False if it is
  // there. Only for the thread that may write it, and durable as above.
  bool repeat_truncation_point(medium::writer& w) noexcept;
  uint64_t written() const noexcept { return written_; }
  uint64_t truncation_point() const noexcept { return durable_.load(std::memory_order_relaxed); }

  // Keeps so many segments for the checkpoint, those included that it has. Returns how many are
  // missing if each lane shall have `others` in addition; then nothing is changed. These include
  // the one that a lane is at, and those that it has taken. Fewer than before it may always keep.
  // `to_come`: how many of them checkpoints bring.
  struct lack {
    size_t missing = 0, to_come = 0;
  };
  lack keep_back(size_t segments, size_t others);
  // Segments that were begun in this session, by any lane; grows.
  uint64_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  // More than the least.
  bool is_keeping_more() {
    const locked turn(mutex_);
    return kept_back_ > kept_least;
  }
  static constexpr size_t kept_least = 2;

  // More segments: all of the list's after those that are present. The list is durable.
  void add(const segment_list& longer);
  // Takes off the segments after the first `kept` chunks of the list. False, with nothing changed,
  // if one of them is not free, or the checkpoint would be left with fewer than are kept for it, or
  // more than the least shall be; one that `lane`, the caller's, is at and needs no more is free.
  bool take_off(uint32_t lane, const segment_list& shorter);

  // ---- to look for damage (log_scrubber.hpp): any thread ----------------------------------------

  // A segment with frames above the durable truncation point, or that a lane appends to.
  struct live_segment {
    log::segment where;
    uint64_t
        fenced;  // frames up to this LSN are durable in all copies, unless they were damaged since
    uint64_t last;  // LSN of the last frame; above `fenced`: it is being appended; 0: none
    const format::segment_head* head;  // its right content; null if no lane appends to it any more
    bool needed;                       // there are such frames
    uint32_t lane;                     // whose segment it is
  };
  // Calls live(live_segment) for segment number `i` of segments(), or unused(log::segment) if
  // nothing counts in it. No thread begins a segment meanwhile, so these wait for nothing that a
  // commit could have.
  template <typename Live, typename Unused>
  void look_at(size_t i, Live&& live, Unused&& unused) {
    const locked turn(mutex_);
    if (i >= uses_.size()) return;
    const use& u = uses_[i];
    const uint64_t fenced =
        u.lane == no_lane ? UINT64_MAX : lanes_[u.lane].fenced.load(std::memory_order_acquire);
    const uint64_t last = std::atomic_ref(uses_[i].last).load(std::memory_order_relaxed);
    if (!u.in_use && last <= truncation_point()) return unused(u.where);
    live(live_segment{u.where, fenced, last, u.in_use ? &lanes_[u.lane].out.head() : nullptr,
                      last > truncation_point(), u.lane});
  }
  // Frames are missing in the segment that the lane is at: the next one goes to another, since
  // after a crash recovery would find it after a gap.
  void leave_segment(uint32_t lane) noexcept {
    lanes_[lane].leaves.store(true, std::memory_order_relaxed);
  }
  const log::segment_layout& layout() const noexcept { return layout_; }
  // One of the two places of the truncation point in one replica, and what it has to hold.
  struct truncation_copy {
    uint64_t offset;
    uint64_t words[2];
  };
  // Those that count. Only for the thread that may write the truncation point.
  std::vector<truncation_copy> truncation_copies() const;

  // Bytes of segments that are in use or full, and of all.
  struct fill {
    uint64_t used, all;
  };
  fill how_full() const noexcept {
    const uint64_t bytes = segment_size_ * layout_.copies();
    return {busy_.load(std::memory_order_relaxed) * bytes,
            count_.load(std::memory_order_relaxed) * bytes};
  }
  // Segments that may be begun until it is nearly full.
  uint64_t until_nearly_full() const noexcept {
    const uint64_t most = count_.load(std::memory_order_relaxed) * 3 / 4;
    return most - std::min<uint64_t>(most, busy_.load(std::memory_order_relaxed));
  }
  bool is_half_full() const noexcept {
    return busy_.load(std::memory_order_relaxed) * 2 >= count_.load(std::memory_order_relaxed);
  }
  bool is_nearly_full() const noexcept {
    return busy_.load(std::memory_order_relaxed) * 4 >= count_.load(std::memory_order_relaxed) * 3;
  }
  size_t segments() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t no_lane = UINT32_MAX;
  struct use {
    log::segment where;
    uint64_t last = 0;    // LSN of its last frame
    bool in_use = false;  // a lane appends to it
    bool of_checkpoint = false;
    uint32_t lane = no_lane;  // that has begun it, in this session
  };
  struct lane_end {
    explicit lane_end(const log::segment_writer& w) : out(w) {}
    log::segment_writer out;
    std::optional<size_t> in;
    std::vector<size_t> taken;  // segments for what comes next
    size_t has = 0;             // of these, and the one that it is at; under mutex_
    uint64_t first = 0;         // as in need, for what comes next
    bool whole = false;         // that is one frame
    byte_buffer image;
    std::atomic<uint64_t> fenced{0};  // CLOG-5
    std::atomic<bool> leaves{false};  // as soon as it appends again
  };

  template <typename Fn, typename Next>
  uint64_t divide(std::span<const log_range> records, uint64_t first, Fn&& fn, Next&& next) const;
  // Less than that at the end of a segment is left.
  uint64_t split_min() const noexcept { return layout_.frame_max() / 16; }
  uint64_t room_of(uint32_t lane) const noexcept;
  bool take(uint32_t lane, size_t segments);
  void put_free(size_t segment) SCUTE_REQUIRES(mutex_);
  void keep_fewer() SCUTE_REQUIRES(mutex_) {
    kept_back_ = std::max(to_keep_, std::min(kept_back_, of_checkpoint_ + to_keep_));
  }
  void begin_next(medium::writer& w, uint32_t lane, uint64_t before) noexcept;
  void leave_added(uint32_t lane) noexcept;
  size_t to_come() const SCUTE_REQUIRES(mutex_);

  bool is_shared(uint32_t lane) const noexcept { return is_apart() && lane != checkpoint_lane(); }
  uint32_t stream_of(uint32_t lane) const noexcept { return is_shared(lane) ? 0 : lane; }
  medium::writer& way(medium::writer& w, uint32_t lane) noexcept {
    return is_apart() ? own_[lane] : w;
  }

  pool::state& s_;
  log_location& location_;
  std::deque<medium::writer> own_;  // of a location apart: one for each lane, and the checkpoint's
  waiting_mutex stream_;            // CLOG-7
  uint64_t drawn_ = 0;              // of the thread that has it
  std::vector<uint64_t>
      told_;  // by lane: bytes that its own writer has counted, and the other one as well
  uint64_t segment_size_;
  size_t made_with_;  // segments that are not taken off
  log::segment_layout layout_;
  std::deque<lane_end> lanes_;  // the last one is the checkpoint's
  waiting_mutex mutex_;
  // Has its final capacity from the start: a lane looks at its own under no lock. State changes
  // under mutex_; `last` of one in use is its lane's.
  std::vector<use> uses_;
  std::vector<size_t> free_ SCUTE_GUARDED_BY(mutex_);
  uint64_t generation_ SCUTE_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> count_{0}, busy_{0};
  std::atomic<uint64_t> begun_{0};
  size_t to_keep_ SCUTE_GUARDED_BY(mutex_) = kept_least;  // as soon as can be
  size_t kept_back_ SCUTE_GUARDED_BY(mutex_) = kept_least;
  size_t of_checkpoint_ SCUTE_GUARDED_BY(mutex_) =
      0;  // segments that the checkpoint has taken, and that are not free again
  size_t taken_ SCUTE_GUARDED_BY(mutex_) = 0;  // by lanes, except the checkpoint's, and not begun
  uint64_t written_ = 0;                       // of the truncation point
  bool is_written_ =
      false;  // in this session: what was found may be a dead process's, and not durable
  uint64_t writes_ = 0;
  std::atomic<uint64_t> durable_{0};
};

}  // namespace scute::core::engine

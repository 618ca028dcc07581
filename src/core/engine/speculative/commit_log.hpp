// SPDX-License-Identifier: BSD-3-Clause
// The log of engine `spec`: segments (core/log/segment.hpp) of which each lane fills one at a time,
// and the truncation point, the LSN up to which all frames are void.
//
//   free --a lane needs room--> in use --it is full--> full
//   full --the durable truncation point passes its last frame--> free
//
// CLOG-1 A segment is begun again only when the *durable* truncation point has passed all its
//    frames (SPEC-8). Its generation is higher than any before in this session, and its head
//    repeats that truncation point.
// CLOG-2 The truncation point never falls (SPEC-5), engine switches and epochs included. It is in
//    two places that are written in turn, in all copies of lane 0; after a fence it is durable.
// CLOG-3 One thread at a time appends for a lane. The checkpoint has a lane and reserved segments
//    of its own: it may always append what it has to renew. It never takes more, so the others keep
//    theirs while a commit under way holds the truncation point back.
// CLOG-4 Segments may be added while others are used, and taken off again when all that were added
//    are free. They are the last ones, and taken last. No lane stays at one when its frames are
//    fenced, since a lane without work would keep it permanently.
// CLOG-5 Frames of a lane are fenced when the fence that follows them has returned. From then on
//    all copies have them, and frames that a copy lacks are damage (log_scrubber.hpp).
// CLOG-6 A thread that has taken segments appends to all of them without waiting for anything but
//    stripes, and takes none while it waits. So segments that other threads have taken come back,
//    and are worth waiting for, like full ones.
// CLOG-7 Frames of one stream with one LSN are parts of one whole. So where lanes share a stream,
//    one transaction at a time draws an LSN for it and appends, and the next one's is higher. A
//    fence there covers all that was appended before, by any thread. No thread has the stream while
//    it checkpoints.
//
// On CLOG-2: where a segment has been used again, its head has the truncation point, too. So no
// explorer can find anything wrong with one place. On CLOG-4: a stream that lanes share may stay at
// an added segment, since the thread that takes segments off has the stream, and leaves the
// segment. On CLOG-7: a checkpoint takes a sync of the pool. Afterwards the thread asks again for
// the room that it had found before.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "core/engine/speculative/log_file/log_location.hpp"
#include "core/log/segment_writer.hpp"

namespace scute::core::engine {

enum frame_flags : uint32_t {
  frame_final = 1,       // the last part of the transaction or step that is decided with it
  frame_step = 2,        // a step of the library, no user's transaction
  frame_part_shift = 8,  // from here on: the number of the part, from 0
};

// A range and its bytes. bytes null: of kind placed.
struct log_range {
  uint64_t offset;
  const std::byte* bytes;
  uint64_t length;
  format::record_kind kind;
};

class commit_log {
 public:
  // Of the list's segments only frames above `truncation_point` are needed, if any are left.
  // last_frames gives, for each segment, the LSN of its last such frame, or 0.
  commit_log(pool::state& s, log_location& location, const segment_list& list,
             uint64_t truncation_point, const std::vector<uint64_t>& last_frames);

  // While it lives no other thread appends to the stream that all lanes share, if they do
  // (log_location::is_apart()). A thread holds it from the question for room to the last frame, but
  // not over a fence, and has nothing pinned when it takes it. LSNs are drawn within, so those of
  // the stream grow (CLOG-7). Taken before stripes, and before the checkpoint's lock.
  class stream_guard {
   public:
    explicit stream_guard(commit_log& log)
        SCUTE_NO_LOCK_ANALYSIS;  // taken where lanes share a stream
    ~stream_guard() { end(); }
    stream_guard(const stream_guard&) = delete;
    stream_guard& operator=(const stream_guard&) = delete;
    void end() noexcept SCUTE_NO_LOCK_ANALYSIS;  // as well
    // Runs fn() while others may append. Afterwards the caller has to ask for room again.
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

  // The frames that these records take, with those that the lane has appended by now: their number
  // and their bytes. first: how many bytes the first frame may have in the lane's segment; 0: it
  // begins another segment.
  struct need {
    size_t frames;
    uint64_t bytes, first;
  };
  need need_of(uint32_t lane, std::span<const log_range> records) const noexcept;
  // Makes room for them, in the lane's segment or in others. Returns false, with nothing lost, if
  // too few segments are free. Writes nothing, so stripes may be held. The lane must append nothing
  // else before them.
  bool make_room(uint32_t lane, const need& n);
  // The same for records that are one frame and fit the lane's present segment, as nearly always.
  // If false, make_room() has to find out.
  bool has_room(uint32_t lane, std::span<const log_range> records);
  // Whether there will be room when all segments that are full or taken by now are checkpointed:
  // then it is worth waiting (CLOG-6).
  bool will_have_room(const need& n);
  // Appends them as parts of one whole. There must be room; durable by the lane's fence().
  void append(medium::writer& w, uint32_t lane, std::span<const log_range> records, uint32_t flags,
              uint64_t lsn, uint64_t transaction) noexcept;
  // The least number of bytes of a segment that frames of many different sizes can use: they are
  // cut where it ends (need_of).
  uint64_t usable() const noexcept {
    return layout_.frame_max() - split_min() - 2 * bytes_of_frame(0) - 128;
  }
  // Bytes of records that fit a frame of their own, wherever they are divided.
  uint64_t records_in_frame() const noexcept;
  // Notes that the lane's frames up to this LSN, its last one, are durable. In the lane's thread.
  void fenced(uint32_t lane, uint64_t lsn) noexcept {
    lane_end& l = lanes_[stream_of(lane)];
    uint64_t before = l.fenced.load(std::memory_order_relaxed);
    while (before < lsn && !l.fenced.compare_exchange_weak(before, lsn, std::memory_order_release,
                                                           std::memory_order_relaxed)) {
    }
    // CLOG-4. Other threads append to a shared stream meanwhile, so its segment is not read here.
    if (!is_shared(lane) && l.in && *l.in >= made_with_) leave_added(lane);
  }
  // Bytes of a segment that a frame with so many bytes of records takes.
  uint64_t bytes_of_frame(uint64_t records) const noexcept {
    return layout_.lines_of(records + sizeof(format::frame_head)) * log::line_size;
  }
  uint32_t checkpoint_lane() const noexcept { return s_.geo.lane_count; }
  bool is_apart() const noexcept { return !own_.empty(); }
  // Makes durable the frames that the lane has appended, or the truncation point that was written
  // (by the checkpoint's lane), unless the pool has failed. w: the writer of these stores.
  void fence(medium::writer& w, uint32_t lane, fence_site at) noexcept;
  // A sum that changes with every fenced frame of any lane.
  uint64_t appended() const noexcept {
    uint64_t all = 0;
    for (uint32_t i = 0; i < checkpoint_lane(); ++i)
      all += lanes_[i].fenced.load(std::memory_order_relaxed);
    return all;
  }
  // The last LSN that was drawn for a shared stream, whose guard the caller has; 0 if each lane has
  // a stream of its own.
  uint64_t drawn() const noexcept { return drawn_; }
  void drawn(uint64_t lsn) noexcept {
    if (is_apart()) drawn_ = lsn;
  }

  // Streams it. To be called in ascending order, by one thread at a time. Durable by the fence of
  // the checkpoint's lane; then call truncation_point_is_durable().
  void write_truncation_point(medium::writer& w, uint64_t lsn) noexcept;
  // Makes durable what this writer has streamed in write_truncation_point() or
  // repeat_truncation_point().
  void fence_truncation_point(medium::writer& w) noexcept {
    fence(w, checkpoint_lane(), fence_site::truncation_point);
  }
  void truncation_point_is_durable() noexcept;
  // TRUNC-1: streams it to the other place as well; the place that has it is durable. Returns false
  // if the other place has it already. Only for the thread that may write it; durable as above.
  bool repeat_truncation_point(medium::writer& w) noexcept;
  uint64_t written() const noexcept { return written_; }
  uint64_t truncation_point() const noexcept { return durable_.load(std::memory_order_relaxed); }

  // Keeps so many segments for the checkpoint, including those that it has. Also requires that each
  // lane has `others` segments: the one that it is at, those that it has taken, and free ones. If
  // free segments are missing, returns how many and changes nothing. `to_come`: how many of them
  // checkpoints make free. A request for fewer than before always succeeds.
  struct lack {
    size_t missing = 0, to_come = 0;
  };
  lack keep_back(size_t segments, size_t others);
  // Number of segments that were begun in this session, by any lane; it grows.
  uint64_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  // Whether it keeps more than the least.
  bool is_keeping_more() {
    const locked turn(mutex_);
    return kept_back_ > kept_least;
  }
  static constexpr size_t kept_least = 2;

  // Adds all segments of the list after those that are present. The list is durable.
  void add(const segment_list& longer);
  // Takes off the segments after the first `kept` chunks of the list. Returns false, with nothing
  // changed, if one of them is not free, if fewer would be left for the checkpoint than it keeps,
  // or if it has to keep more than the least. The segment of `lane`, the caller's, counts as free
  // if it has no frames that are needed.
  bool take_off(uint32_t lane, const segment_list& shorter);

  // ---- for the search for damage (log_scrubber.hpp): any thread ---------------------------------

  // A segment with frames above the durable truncation point, or that a lane appends to.
  struct live_segment {
    log::segment where;
    uint64_t
        fenced;  // frames up to this LSN are durable in all copies, unless they were damaged since
    uint64_t last;  // LSN of the last frame; above `fenced`: being appended; 0: none
    const format::segment_head* head;  // its right content; null if no lane appends to it any more
    bool needed;                       // it has frames above the durable truncation point
    uint32_t lane;                     // whose segment it is
  };
  // Calls live(live_segment) for segment number `i` of segments(), or unused(log::segment) if
  // nothing in it counts. No thread begins a segment meanwhile, so live and unused must wait for
  // nothing that a commit could hold.
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
  // Frames are missing in the lane's present segment. Its next frame goes to another segment, since
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
  // The copies that count. Only for the thread that may write the truncation point.
  std::vector<truncation_copy> truncation_copies() const;

  // Bytes of segments that are in use or full, and of all segments.
  struct fill {
    uint64_t used, all;
  };
  fill how_full() const noexcept {
    const uint64_t bytes = segment_size_ * layout_.copies();
    return {busy_.load(std::memory_order_relaxed) * bytes,
            count_.load(std::memory_order_relaxed) * bytes};
  }
  // How many segments may be begun until the log is nearly full.
  uint64_t until_nearly_full() const noexcept {
    const uint64_t most = count_.load(std::memory_order_relaxed) * 3 / 4;
    return most - std::min<uint64_t>(most, busy_.load(std::memory_order_relaxed));
  }
  // Whether half of the log, as it was made, is full; and whether it is nearly full as far as it
  // may grow (ROOM-10).
  bool is_half_full() const noexcept {
    return busy_.load(std::memory_order_relaxed) * 2 >= made_with_;
  }
  bool is_nearly_full() const noexcept {
    const size_t most = std::max(count_.load(std::memory_order_relaxed), at_ease_);
    return busy_.load(std::memory_order_relaxed) * 4 >= most * 3;
  }
  size_t segments() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t no_lane = UINT32_MAX;
  struct use {
    log::segment where;
    uint64_t last = 0;    // LSN of its last frame
    bool in_use = false;  // a lane appends to it
    bool of_checkpoint = false;
    uint32_t lane = no_lane;  // the lane that has begun it, in this session
  };
  struct lane_end {
    explicit lane_end(const log::segment_writer& w) : out(w) {}
    log::segment_writer out;
    std::optional<size_t> in;
    std::vector<size_t> taken;  // segments for its next frames
    size_t has = 0;             // how many: taken, and the one that it is at; under mutex_
    uint64_t first = 0;         // as in need, for its next frames
    bool whole = false;         // they are one frame
    byte_buffer image;
    std::atomic<uint64_t> fenced{0};  // CLOG-5
    std::atomic<bool> leaves{false};  // to another segment when it appends again
  };

  template <typename Fn, typename Next>
  uint64_t divide(std::span<const log_range> records, uint64_t first, Fn&& fn, Next&& next) const;
  // Room below this at the end of a segment is left unused.
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
  std::deque<medium::writer> own_;  // of a location apart: for each lane, and the checkpoint
  waiting_mutex stream_;            // CLOG-7
  uint64_t drawn_ = 0;              // of the thread that has it
  std::vector<uint64_t>
      counted_;  // by lane: bytes that its own writer has counted, and the other one as well
  uint64_t segment_size_;
  size_t made_with_;  // segments that are not taken off
  size_t at_ease_;    // segments of log_location::chunks_at_ease()
  log::segment_layout layout_;
  std::deque<lane_end> lanes_;  // the last one is the checkpoint's
  waiting_mutex mutex_;
  // Has its final capacity from the start: a lane reads its own elements without a lock. State
  // changes under mutex_; `last` of a segment in use is its lane's.
  std::vector<use> uses_;
  std::vector<size_t> free_ SCUTE_GUARDED_BY(mutex_);
  uint64_t generation_ SCUTE_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> count_{0}, busy_{0};
  std::atomic<uint64_t> begun_{0};
  size_t to_keep_ SCUTE_GUARDED_BY(mutex_) = kept_least;  // as soon as possible
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

// SPDX-License-Identifier: BSD-3-Clause
// The log of engine `spec`: segments (log/segment.hpp) of which each lane fills one at a time, and the horizon, the
// sequence up to which all frames are void.
//
//   free --a lane needs room--> in use --it is full--> full --the durable horizon passes its last frame--> free
//
// CLOG-1 A segment is begun again only when the *durable* horizon has passed all its frames (SPEC-8). Its generation is
//    higher than any before in this session, and its head repeats that horizon.
// CLOG-2 The horizon never falls (SPEC-5), engine switches and epochs included. It is in two places that are written by
//    turns, in all copies of lane 0; a fence later it is durable.
// CLOG-3 One thread at a time appends for a lane. Segments are kept back for the fold, which has a lane of its own: it
//    may always append what it has to renew.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/lock.hpp"
#include "base/waiting.hpp"
#include "engine/spec/segment_list.hpp"
#include "log/segment_writer.hpp"

namespace scute::core::engine {

enum frame_flags : uint32_t {
  frame_final = 1,       // the last part of what is decided with it
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

// The horizon that the lane's words tell, 0 if they tell none, and in which of the two places.
struct horizon_found {
  uint64_t sequence = 0;
  uint32_t place = 0;
};
horizon_found read_horizon(const pool::state& s) noexcept;

class commit_log {
 public:
  // Nothing of the list's segments is needed but frames above `horizon`, if any are left: those segments are given with
  // the sequence of their last frame, the others with 0.
  commit_log(pool::state& s, const segment_list& list, uint64_t horizon,
             const std::vector<uint64_t>& last_frames);

  // Frames that these records take: how many, and the bytes of the last one.
  struct need {
    size_t frames;
    uint64_t last;
  };
  need need_of(std::span<const log_range> records) const noexcept;
  // Room for them, in the lane's segment or in others. False, with nothing lost, if too few segments are free.
  bool make_room(medium::writer& w, uint32_t lane, const need& n);
  // Appends them as parts of one whole. There is room; durable at the next fence. Throws std::bad_alloc: then some parts may
  // be there, which without the others are nothing.
  void append(medium::writer& w, uint32_t lane, std::span<const log_range> records, uint32_t flags,
              uint64_t sequence, uint64_t transaction);
  uint64_t frame_max() const noexcept { return layout_.frame_max(); }
  uint32_t fold_lane() const noexcept { return s_.geo.lane_count; }

  // Streams it; to be called in ascending order, by one thread at a time. Durable by the writer's next fence, then say so.
  void write_horizon(medium::writer& w, uint64_t sequence) noexcept;
  void horizon_is_durable() noexcept;
  uint64_t written() const noexcept { return written_; }
  uint64_t horizon() const noexcept { return durable_.load(std::memory_order_relaxed); }

  // Keeps so many segments back for the fold; false, with nothing changed, if there are not so many free ones.
  bool keep_back(size_t segments);

  // Bytes of segments that are in use or full, and of all.
  struct fill {
    uint64_t used, all;
  };
  fill how_full() const noexcept {
    return {busy_.load(std::memory_order_relaxed) * list_.segment_size,
            uses_.size() * list_.segment_size};
  }
  bool is_nearly_full() const noexcept {
    return busy_.load(std::memory_order_relaxed) * 4 >= uses_.size() * 3;
  }
  const segment_list& list() const noexcept { return list_; }

 private:
  struct use {
    log::segment where;
    uint64_t last = 0;    // sequence of its last frame
    bool in_use = false;  // a lane appends to it
  };
  struct lane_end {
    explicit lane_end(log::segment_writer w) : out(std::move(w)) {}
    log::segment_writer out;
    std::optional<size_t> in;
    std::vector<size_t> taken;  // segments for what comes next
    byte_buffer image;
  };

  template <typename Fn, typename Next>
  uint64_t divide(std::span<const log_range> records, Fn&& fn, Next&& next) const;
  bool take(uint32_t lane, size_t segments);
  void begin_next(medium::writer& w, uint32_t lane) noexcept;

  pool::state& s_;
  segment_list list_;
  log::segment_layout layout_;
  std::deque<lane_end> lanes_;  // the last one is the fold's
  waiting_mutex mutex_;
  std::vector<use> uses_;  // state changes under mutex_; `last` of one in use is its lane's
  std::vector<size_t> free_ SCUTE_GUARDED_BY(mutex_);
  uint64_t generation_ SCUTE_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> busy_{0}, kept_back_{2};
  uint64_t written_ = 0;  // of the horizon
  uint64_t writes_ = 0;
  std::atomic<uint64_t> durable_{0};
};

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
// A segment: a part of a file that takes frames, one after the other, from its first line to its
// last. A frame is a head and a body that are valid together or not at all. Sequential logs consist
// of segments: that of engine `spec`, and those of persist-on-write files. The owner of the log
// decides which segments there are, in which order they are used, and when frames are void. Nothing
// here needs a pool.
//
//   one_copy     lines one after the other
//   two_copies   the same twice, each copy on pages of its own
//   tracks       eight lines side by side make a row, each in a track of its own, and a ninth track
//                has their XOR. Tracks lie on pages of their own. A frame begins in a new row, and
//                the XOR of its last row is that of its own lines, so nothing written before is
//                read, or written again.
//
// SEG-1 A frame counts as a whole or not at all. Its head has the checksum of its body. The head's
//    own checksum starts from the segment's salt, epoch, lane and generation, and the frame's
//    position: bytes of another file, session, lane, use or place are no frame.
// SEG-2 A generation is never used twice with one salt, epoch and lane. So the first store of the
//    new head makes everything of an earlier use void.
// SEG-3 Only the writer that has begun the segment in this session appends frames, and never after
//    a frame that may be torn: after a crash no writer appends to an existing segment.
// SEG-4 Each page can be rebuilt from the others, except in one_copy: each of two copies is
//    complete, and no two lines of a row lie in one page.
// SEG-5 An invalid place does not end a segment. Whether a valid frame after one proves damage
//    depends on the writer's fences; the reader reports the gap.
// SEG-6 Reading a segment takes time in proportion to its size, whatever it holds.
// SEG-7 If the layout has a line for it, a writer that leaves a segment records after the last
//    place of a frame how many frames there are and where they end. So a loss after the last found
//    frame is noticed. The line is no frame; after a crash a reader may write it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "codec/parity/parity.hpp"
#include "core/log/format.hpp"

namespace scute::core::log {

enum class redundancy : uint32_t { one_copy = 1, two_copies = 2, tracks = 3 };

inline constexpr uint64_t line_size = 64, segment_page = 4096;
inline constexpr uint32_t track_count = 8;  // without that of the XOR

// File offsets of a segment's copies: multiples of segment_page. at[1] is used for two copies only.
struct segment {
  uint64_t at[2] = {0, 0};
};

// Maps the lines of a segment to offsets. Positions are numbers of lines, from 0, which is the
// segment's head.
class segment_layout {
 public:
  // size: bytes of one copy, a multiple of segment_page; for tracks at least nine pages. with_end:
  // SEG-7. kept: for one copy, lines at the end that no frame takes, including the one of SEG-7.
  segment_layout(redundancy how, uint64_t size, bool with_end = false, uint64_t kept = 0) noexcept
      : how_(how),
        size_(size),
        track_(size / segment_page / (track_count + 1) * segment_page),
        kept_(with_end ? std::max(step(), kept) : 0) {}

  redundancy how() const noexcept { return how_; }
  uint64_t size() const noexcept { return size_; }
  uint32_t copies() const noexcept { return how_ == redundancy::two_copies ? 2 : 1; }
  // Frames begin at multiples of this.
  uint64_t step() const noexcept { return how_ == redundancy::tracks ? track_count : 1; }
  uint64_t lines() const noexcept { return all_lines() - kept_; }
  // Includes the lines that frames never take. The line at lines() records their end (SEG-7).
  uint64_t all_lines() const noexcept {
    return how_ == redundancy::tracks ? track_ / line_size * track_count : size_ / line_size;
  }
  bool has_end() const noexcept { return kept_ != 0; }
  // Lines that a frame of this many bytes takes, up to where the next one may begin.
  uint64_t lines_of(uint64_t bytes) const noexcept {
    const uint64_t n = (bytes + line_size - 1) / line_size;
    return (n + step() - 1) / step() * step();
  }
  // Bytes of the largest frame there can be.
  uint64_t frame_max() const noexcept { return (lines() - step()) * line_size; }

  // The position's offset from the start of a copy.
  uint64_t offset_of(uint64_t position) const noexcept {
    return how_ != redundancy::tracks
               ? position * line_size
               : position % track_count * track_ + position / track_count * line_size;
  }
  // The offset of the XOR of the row that has `position`.
  uint64_t sum_offset_of(uint64_t position) const noexcept {
    return track_count * track_ + position / track_count * line_size;
  }

  // Calls put(copy, offset in the copy, bytes, n) for all stores of a frame, or of the head, whose
  // whole lines are `lines`. n is a multiple of a line.
  template <typename Put>
  void for_each_store(uint64_t position, std::span<const std::byte> lines, Put&& put) const {
    if (how_ != redundancy::tracks) {
      for (uint32_t c = 0; c < copies(); ++c)
        put(c, position * line_size, lines.data(), lines.size());
      return;
    }
    for (uint64_t at = 0; at < lines.size(); at += track_count * line_size) {
      alignas(line_size) std::byte sum[line_size];
      const uint64_t end = std::min<uint64_t>(at + track_count * line_size, lines.size());
      std::memcpy(sum, lines.data() + at, line_size);
      for (uint64_t i = at; i < end; i += line_size) {
        if (i != at) codec::xor_into(sum, lines.data() + i, line_size);
        put(0U, offset_of(position + i / line_size), lines.data() + i, line_size);
      }
      put(0U, sum_offset_of(position + at / line_size), static_cast<const std::byte*>(sum),
          line_size);
    }
  }

 private:
  redundancy how_;
  uint64_t size_, track_, kept_;
};

// The start value of the checksums of a segment's frames (SEG-1).
uint32_t seed_of(const format::segment_head& h) noexcept;
uint32_t segment_head_checksum(const format::segment_head& h) noexcept;
uint32_t frame_head_checksum(uint32_t seed, uint64_t position,
                             const format::frame_head& h) noexcept;
uint32_t segment_end_checksum(uint32_t seed, const format::segment_end& e) noexcept;

}  // namespace scute::core::log

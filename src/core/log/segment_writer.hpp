// SPDX-License-Identifier: BSD-3-Clause
// Appends frames to segments (core/log/segment.hpp). One thread at a time; the thread that appends
// also fences.
#pragma once

#include <cstdint>

#include "base/byte_buffer.hpp"
#include "core/log/entry.hpp"
#include "core/log/segment.hpp"
#include "core/medium/medium.hpp"

namespace scute::core::log {

// How the lines of a frame reach the medium. Streamed ones are durable at the next fence of the
// appending thread. Cached ones can be made durable by any thread: write_back(), and a fence of the
// same thread.
enum class stores : uint8_t { streamed, cached };

class segment_writer {
 public:
  // base: where the file is mapped. This writer alone uses whose.lane.
  segment_writer(std::byte* base, const segment_layout& layout, const identity& whose) noexcept
      : base_(base), layout_(layout), whose_(whose) {}

  const segment_layout& layout() const noexcept { return layout_; }

  // Continues in another segment whose old contents are no longer needed. Its head becomes durable
  // with the first frame, by the fence after it. generation: SEG-2. before: as in the head.
  void begin(medium::writer& w, const segment& s, uint64_t generation, uint64_t truncation_point,
             uint64_t before = 0) noexcept;
  // The head of the segment that was begun last.
  const format::segment_head& head() const noexcept { return head_; }
  // Nothing can be appended until the next begin().
  void end() noexcept { next_ = layout_.lines(); }
  // The same, and records where the segment's frames end (SEG-7): durable at w's next fence. A
  // segment must have been begun.
  void end(medium::writer& w) noexcept;

  // Bytes of the largest frame that fits, with its head; 0 if there is no segment.
  uint64_t room() const noexcept { return (layout_.lines() - next_) * line_size; }

  // Makes room for the head, which append() fills in; the body follows.
  static void start(byte_buffer& image) {
    image.clear();
    image.extend(sizeof(format::frame_head));
  }
  // Appends a frame of at most room() bytes and returns its position. It is durable after the
  // caller's next fence; before that no other step may depend on it. Throws std::bad_alloc, with
  // nothing written.
  uint64_t append(medium::writer& w, byte_buffer& image, uint32_t flags, uint64_t sequence,
                  uint64_t transaction, stores how = stores::streamed);

 private:
  std::byte* base_;
  segment_layout layout_;
  identity whose_;
  segment at_;
  format::segment_head head_{};
  uint32_t seed_ = 0;
  uint64_t next_ = layout_.lines();  // where the next frame goes
  uint64_t frames_ = 0, last_ = 0;   // since begin(); transaction of the last one
};

// Records where the frames of the segment with this head end (SEG-7). Durable at w's next fence.
void store_end(medium::writer& w, std::byte* base, const segment_layout& layout, const segment& s,
               const format::segment_head& head, uint64_t end, uint64_t frames,
               uint64_t last) noexcept;

// Stores whole lines of a frame, or of a head, in their places in all copies. Durable at the next
// fence.
void store_lines(medium::writer& w, std::byte* base, const segment_layout& layout, const segment& s,
                 uint64_t position, std::span<const std::byte> lines,
                 stores how = stores::streamed) noexcept;
// Starts the write-back of the lines [from, to) in all copies; both are multiples of the layout's
// step.
void write_back(medium::writer& w, std::byte* base, const segment_layout& layout, const segment& s,
                uint64_t from, uint64_t to) noexcept;

}  // namespace scute::core::log

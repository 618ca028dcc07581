// SPDX-License-Identifier: BSD-3-Clause
// Reads segments (log/segment.hpp), after a crash or to repair one. Nothing that is read is
// trusted, pages may be unreadable, and nothing is written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "log/segment.hpp"

namespace scute::core::log {

// A valid frame; its bytes are good during the call that brings it.
struct frame {
  format::frame_head head;
  uint64_t position;
  std::span<const std::byte> lines;  // all of it, as store_lines() takes it
  bool flawed;                       // somewhere its redundancy has other bytes, or none
  const format::segment_head* of;    // the segment's
  bool behind_gap;                   // the first one behind a place without a valid frame (SEG-5)

  std::span<const std::byte> body() const noexcept {
    return lines.subspan(sizeof head, head.size - sizeof head);
  }
};

struct segment_contents {
  std::optional<format::segment_head> head;  // none: nothing in it is known
  bool head_flawed = false;
  uint64_t frames = 0;
  uint64_t flawed = 0;                        // of these
  uint64_t gaps = 0;                          // frames behind one
  uint64_t end = 0;                           // position behind the last frame
  std::optional<format::segment_end> stated;  // what the segment says of it (SEG-7)
  bool stated_flawed = false;                 // a copy of that is wrong, or not there
  uint64_t blind =
      0;  // places without a frame that is known where too many pages cannot be read to know of one
};

// One thread at a time.
class segment_reader {
 public:
  // Copies [offset, offset + n) of the file, whole pages. False if they cannot be read.
  using read_fn = std::function<bool(uint64_t offset, std::byte* to, size_t n)>;
  // The same without a copy; null if they have to be copied. Nobody changes them while they are
  // looked at.
  using view_fn = std::function<const std::byte*(uint64_t offset, size_t n)>;
  using frame_fn = std::function<void(const frame&)>;

  segment_reader(const segment_layout& layout, uint64_t salt, read_fn read, view_fn view = {});

  // Calls fn for each valid frame, in ascending order of positions. What fn throws passes through.
  segment_contents read(const segment& s, const frame_fn& fn);

  // Its head alone.
  std::optional<format::segment_head> read_head(const segment& s);

  // What a page of a copy shall hold: head and frames as far as the other pages tell them, zeros
  // elsewhere. offset: in the copy. Returns what these pages hold: with gaps, or another end than
  // the segment's writer knows, the page may not be complete.
  segment_contents rebuild(const segment& s, uint32_t copy, uint64_t offset,
                           std::span<std::byte, segment_page> page);

 private:
  struct held {  // of a copy
    std::vector<std::byte> bytes;
    std::vector<bool> lost;  // pages
    const std::byte* at = nullptr;
  };

  void load(const segment& s);
  bool is_lost(uint32_t copy, uint64_t offset, uint64_t n) const noexcept;
  const std::byte* at(uint32_t copy, uint64_t offset) const noexcept {
    return held_[copy].at + offset;
  }
  bool find_head(segment_contents& c) const noexcept;
  bool is_head(const format::segment_head& h) const noexcept;
  void find_end(segment_contents& c) const noexcept;
  bool fits(uint64_t position, const format::frame_head& h) const noexcept;
  bool charge(uint64_t size) noexcept;
  static bool sums(const format::frame_head& h, const std::byte* lines) noexcept;
  bool find(uint64_t position, frame& f);
  bool is_blind(uint64_t position) const noexcept;
  bool find_in_copies(uint64_t position, frame& f);
  bool find_in_tracks(uint64_t position, frame& f);
  bool head_without_first(uint64_t position, format::frame_head& h) const noexcept;
  bool assemble(uint64_t position, uint64_t size, uint32_t without);
  bool sums_are_right(uint64_t position, uint64_t size) const noexcept;

  segment_layout layout_;
  uint64_t salt_;
  read_fn read_;
  view_fn view_;
  held held_[2];
  static constexpr uint64_t nowhere = UINT64_MAX;
  uint64_t without_ = nowhere;  // a page that is no source of its own content
  uint32_t seed_ = 0;
  uint64_t budget_ = 0;  // bytes that may still be summed (SEG-6)
  std::vector<std::byte> assembled_;
};

}  // namespace scute::core::log

// SPDX-License-Identifier: BSD-3-Clause
// Reads segments (core/log/segment.hpp), after a crash or to repair one. It trusts nothing that it
// reads, tolerates unreadable pages, and writes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/log/segment.hpp"

namespace scute::core::log {

// A valid frame; its bytes are valid during the call that passes it.
struct frame {
  format::frame_head head;
  uint64_t position;
  std::span<const std::byte> lines;  // all of it, as store_lines() takes it
  bool flawed;                       // some of its redundancy has other bytes, or is lost
  const format::segment_head* of;    // the segment's
  bool behind_gap;                   // the first frame after a place without a valid one (SEG-5)

  std::span<const std::byte> body() const noexcept {
    return lines.subspan(sizeof head, head.size - sizeof head);
  }
};

struct segment_contents {
  std::optional<format::segment_head> head;  // none: no head was found
  bool head_flawed = false;
  uint64_t frames = 0;
  uint64_t flawed = 0;                        // of these
  uint64_t gaps = 0;                          // frames after a gap
  uint64_t end = 0;                           // position after the last frame
  std::optional<format::segment_end> stated;  // the end as the segment records it (SEG-7)
  bool stated_flawed = false;                 // a copy of that record is wrong or missing
  uint64_t blind =
      0;  // places where no frame was found and too many pages are unreadable to exclude one
};

// One thread at a time.
class segment_reader {
 public:
  // Copies [offset, offset + n) of the file, whole pages. False if they cannot be read.
  using read_fn = std::function<bool(uint64_t offset, std::byte* to, size_t n)>;
  // The same without a copy; null if they have to be copied. No thread may change them meanwhile.
  using view_fn = std::function<const std::byte*(uint64_t offset, size_t n)>;
  using frame_fn = std::function<void(const frame&)>;

  segment_reader(const segment_layout& layout, uint64_t salt, read_fn read, view_fn view = {});

  // Calls fn for each valid frame, in ascending order of positions. Exceptions of fn pass through.
  segment_contents read(const segment& s, const frame_fn& fn);

  // Its head alone.
  std::optional<format::segment_head> read_head(const segment& s);

  // Makes the contents of a page of a copy: head and frames as far as the other pages have them,
  // zeros elsewhere. offset: in the copy. Returns the contents of these other pages: with gaps, or
  // another end than the segment's writer knows, the page may be incomplete.
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
  uint64_t without_ = nowhere;  // the page being rebuilt, which is no source
  uint32_t seed_ = 0;
  uint64_t budget_ = 0;  // bytes that may still be summed (SEG-6)
  std::vector<std::byte> assembled_;
};

}  // namespace scute::core::log

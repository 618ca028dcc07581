// SPDX-License-Identifier: BSD-3-Clause
// log_picture.hpp: what counts in a log of engine spec that a
// killed process has left, and where it lies: by docs/reference/format.md ("Segments", "The log
// file"), without the library. And what damage to it may cost: what one copy or track lacks,
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scute_campaign {

// How the log is protected. The last kind lies in chunks of the pool, the others in a file next to
// it.
enum class log_kind : uint8_t { one_copy, two_copies, tracks };
inline constexpr std::array log_kind_names{"one-copy", "two-copies", "tracks"};

struct log_range {
  uint64_t offset, length;
};

class log_picture {
 public:
  // file: that has the log; of a pool that has it inside, with the offsets of its chunks, in any
  // order.
  log_picture(std::span<const std::byte> file, log_kind kind, std::span<const uint64_t> chunks);

  // Where the log lies: all of it; one copy of it, or one track of each segment.
  std::vector<log_range> all() const;
  std::vector<log_range> part(unsigned number) const;
  unsigned parts() const noexcept { return kind_ == log_kind::tracks ? 9 : 2; }
  // A line of a frame that counts, in some copy or track, by two random numbers; or anything, if
  // none does.
  uint64_t line_of_frame(uint64_t which, uint64_t where) const;

  struct prospects {
    bool opens = true;      // one head of the file is whole
    bool intact = true;     // nothing that counts is hit in more than one copy, or one track
    bool quiet = true;      // nor is a head or a frame that is void: it looks like one that counted
    bool reported = false;  // opening has to report a loss
  };
  // lanes: of the pool.
  prospects predict(std::span<const std::byte> after, uint32_t lanes) const;

 private:
  struct segment {
    uint64_t at[2];
    bool has_head;
    uint32_t lane;
  };
  struct frame {
    size_t segment;
    uint64_t position, size;  // a line; bytes
    uint64_t sequence;
    bool live;  // above the truncation point
  };
  enum class hit : uint8_t { no, in_part, beyond };

  uint64_t head_at(size_t i) const noexcept { return line_at(i, 0, 0); }
  uint64_t line_at(size_t i, uint64_t line, unsigned copy) const noexcept;
  uint64_t sum_at(size_t i, uint64_t line) const noexcept;
  void look_for_segments(std::span<const uint64_t> chunks);
  void look_for_frames();
  uint64_t truncation_point() const noexcept;
  hit look(std::span<const std::byte> after, size_t i, uint64_t position,
           uint64_t size) const noexcept;
  bool differs(std::span<const std::byte> after, uint64_t at, uint64_t n) const noexcept;
  template <typename T>
  T number(uint64_t at) const noexcept;
  bool has_head(uint64_t at) const noexcept;

  const std::vector<std::byte> file_;
  const log_kind kind_;
  uint64_t segment_size_ = 0, chunk_size_ = 0;
  std::vector<segment> segments_;
  std::vector<frame> frames_;  // by segments and positions
  std::vector<size_t> live_;   // those that count
};

}  // namespace scute_campaign

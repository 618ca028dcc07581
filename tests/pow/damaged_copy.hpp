// SPDX-License-Identifier: BSD-3-Clause
// Copies of a closed file of an exploration that are damaged, and opened on their own. Recovery
// must report the loss, and the exploration continues with the file as it was.
#pragma once

#include <stdexcept>
#include <vector>

#include "plain_medium.hpp"
#include "pow_subject.hpp"

namespace scute::testing {

class damaged_copy {
 public:
  // image: of the medium, at least the file.
  damaged_copy(const pow_subject& of, std::span<const std::byte> image)
      : of_(of),
        layout_(of.kind().protect == pow::protection::always ? core::log::redundancy::tracks
                                                             : core::log::redundancy::one_copy,
                of.kind().segment_size, true),
        bytes_(image.begin(), image.begin() + static_cast<ptrdiff_t>(of.file_size())) {
    pow::plain_medium file(bytes_);
    uint32_t damaged = 0;
    salt_ = pow::salt_of(pow::read_head(file, bytes_.size(), "copy", damaged));
  }

  // Each frame of each segment in turn becomes zeros, and the file is refused (POW-12). Throws
  // std::logic_error if not.
  void refuse_without_frames() {
    for (uint64_t i = 0; i < of_.kind().most; ++i)
      for (const place& lost : frames_of(i)) {
        const std::vector<std::byte> sound = bytes_;
        put(i, lost, [](std::byte) { return std::byte{0}; });
        try {
          open();
          throw std::logic_error("segment " + std::to_string(i) + " has lost a frame at line " +
                                 std::to_string(lost.position) + ", and that is not reported");
        } catch (const core::failure& f) {
          if (f.code() != SCUTE_E_CORRUPT) throw;
        }
        bytes_ = sound;
      }
  }

  // The cleaner takes no segment in which something that counts cannot be read (POW-4). Throws
  // std::logic_error if it does.
  void keep_what_cannot_be_read() {
    const auto s = open();
    pow::state& in = s->parts();
    const core::locked guard(in.clean_lock);
    for (uint32_t i = 0; i < in.space->count(); ++i) {
      const pow::segment_note& n = in.space->note(i);
      if (n.what.load() != pow::use::full || n.live.load() == 0) continue;
      const auto frames = frames_of(i);
      const auto flip = [&] {
        for (const place& p : frames) put(i, p, [](std::byte b) { return b ^ std::byte{0xff}; });
      };
      flip();
      pow::cleaner c(in);
      if (c.take(i, pow::need::recovery))
        throw std::logic_error("the cleaner has taken segment " + std::to_string(i) +
                               ", in which nothing of what counts can be read");
      flip();
    }
  }

 private:
  struct place {
    uint64_t position, lines;
  };
  std::vector<place> frames_of(uint64_t segment) {
    std::vector<place> all;
    core::log::segment_reader reader(layout_, salt_, [&](uint64_t at, std::byte* to, size_t n) {
      std::memcpy(to, bytes_.data() + at, n);
      return true;
    });
    reader.read({{base_of(segment), 0}}, [&](const core::log::frame& f) {
      all.push_back({f.position, layout_.lines_of(f.head.size)});
    });
    return all;
  }
  template <typename Change>
  void put(uint64_t segment, const place& p, Change&& change) {
    for (uint64_t i = p.position; i < p.position + p.lines; ++i)
      for (const uint64_t at :
           {layout_.offset_of(i),
            layout_.how() == core::log::redundancy::tracks && (i - p.position) % 8 == 0
                ? layout_.sum_offset_of(i)
                : UINT64_MAX})
        for (uint64_t k = 0; at != UINT64_MAX && k < core::log::line_size; ++k) {
          std::byte& b = bytes_[base_of(segment) + at + k];
          b = change(b);
        }
  }
  uint64_t base_of(uint64_t segment) const {
    return pow::first_segment + segment * of_.kind().segment_size;
  }
  std::unique_ptr<pow::store> open() {
    return pow::store::open(std::make_unique<pow::plain_medium>(bytes_), "copy", bytes_.size(),
                            of_.requested());
  }

  const pow_subject& of_;
  core::log::segment_layout layout_;
  std::vector<std::byte> bytes_;
  uint64_t salt_ = 0;
};

}  // namespace scute::testing

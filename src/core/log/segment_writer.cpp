// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/segment_writer.hpp"

#include "base/failure.hpp"
#include "codec/checksum/crc32c.hpp"

namespace scute::core::log {

void store_lines(medium::writer& w, std::byte* base, const segment_layout& layout, const segment& s,
                 uint64_t position, std::span<const std::byte> lines, stores how) noexcept {
  uint32_t done = 0;
  layout.for_each_store(position, lines,
                        [&](uint32_t copy, uint64_t offset, const std::byte* from, size_t n) {
                          std::byte* const to = base + s.at[copy] + offset;
                          if (how == stores::streamed)
                            w.append(to, from, n, medium::purpose::log);
                          else
                            w.put(to, from, n, medium::purpose::log, &done);
                        });
}

void write_back(medium::writer& w, std::byte* base, const segment_layout& layout, const segment& s,
                uint64_t from, uint64_t to) noexcept {
  if (from >= to) return;
  if (layout.how() != redundancy::tracks) {
    for (uint32_t c = 0; c < layout.copies(); ++c)
      w.write_back(base + s.at[c] + from * line_size, (to - from) * line_size);
    return;
  }
  const uint64_t n = (to - from) / track_count * line_size;
  for (uint32_t t = 0; t < track_count; ++t)
    w.write_back(base + s.at[0] + layout.offset_of(from + t), n);
  w.write_back(base + s.at[0] + layout.sum_offset_of(from), n);
}

void segment_writer::begin(medium::writer& w, const segment& s, uint64_t generation,
                           uint64_t truncation_point, uint64_t before) noexcept {
  format::segment_head h{};
  h.magic = format::segment_magic;
  h.salt = whose_.salt;
  h.epoch = whose_.epoch;
  h.generation = generation;
  h.lane = whose_.lane;
  h.redundancy = static_cast<uint32_t>(layout_.how());
  h.size = layout_.size();
  h.truncation_point = truncation_point;
  h.before = before;
  h.checksum = segment_head_checksum(h);
  head_ = h;
  seed_ = seed_of(h);
  at_ = s;
  next_ = layout_.step();
  frames_ = last_ = 0;
  store_lines(w, base_, layout_, s, 0, std::as_bytes(std::span(&h, 1)));
}

uint64_t segment_writer::append(medium::writer& w, byte_buffer& image, uint32_t flags,
                                uint64_t sequence, uint64_t transaction, stores how) {
  const size_t size = image.size();
  SCUTE_ASSERT(size <= room() && size >= sizeof(format::frame_head));
  const size_t padding = round_line(size) - size;
  std::memset(image.extend(padding), 0, padding);
  const uint64_t position = next_;
  format::frame_head h;
  h.body_checksum = codec::crc32c(0, image.data() + sizeof h, size - sizeof h);
  h.size = static_cast<uint32_t>(size);
  h.flags = flags;
  h.sequence = sequence;
  h.transaction = transaction;
  h.checksum = frame_head_checksum(seed_, position, h);
  std::memcpy(image.data(), &h, sizeof h);
  next_ += layout_.lines_of(size);
  ++frames_;
  last_ = transaction;
  store_lines(w, base_, layout_, at_, position, {image.data(), image.size()}, how);
  return position;
}

void segment_writer::end(medium::writer& w) noexcept {
  if (layout_.has_end()) store_end(w, base_, layout_, at_, head_, next_, frames_, last_);
  end();
}

void store_end(medium::writer& w, std::byte* base, const segment_layout& layout, const segment& s,
               const format::segment_head& head, uint64_t end, uint64_t frames,
               uint64_t last) noexcept {
  format::segment_end e{};
  e.magic = format::segment_end_magic;
  e.end = end;
  e.frames = frames;
  e.last = last;
  e.checksum = segment_end_checksum(seed_of(head), e);
  store_lines(w, base, layout, s, layout.lines(), std::as_bytes(std::span(&e, 1)));
}

}  // namespace scute::core::log

// SPDX-License-Identifier: BSD-3-Clause
#include "log/segment_writer.hpp"

#include "base/failure.hpp"
#include "codec/crc32c.hpp"

namespace scute::core::log {

void store_lines(medium::writer& w, std::byte* base, const segment_layout& layout, const segment& s,
                 uint64_t position, std::span<const std::byte> lines) noexcept {
  layout.for_each_store(position, lines,
                        [&](uint32_t copy, uint64_t offset, const std::byte* from, size_t n) {
                          w.append(base + s.at[copy] + offset, from, n, medium::purpose::log);
                        });
}

void segment_writer::begin(medium::writer& w, const segment& s, uint64_t generation,
                           uint64_t horizon) noexcept {
  format::segment_head h{};
  h.magic = format::segment_magic;
  h.salt = whose_.salt;
  h.epoch = whose_.epoch;
  h.generation = generation;
  h.lane = whose_.lane;
  h.redundancy = static_cast<uint32_t>(layout_.how());
  h.size = layout_.size();
  h.horizon = horizon;
  h.checksum = segment_head_checksum(h);
  head_ = h;
  seed_ = seed_of(h);
  at_ = s;
  next_ = layout_.step();
  store_lines(w, base_, layout_, s, 0, std::as_bytes(std::span(&h, 1)));
}

uint64_t segment_writer::append(medium::writer& w, byte_buffer& image, uint32_t flags,
                                uint64_t sequence, uint64_t transaction) {
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
  store_lines(w, base_, layout_, at_, position, {image.data(), image.size()});
  return position;
}

}  // namespace scute::core::log

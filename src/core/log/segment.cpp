// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/segment.hpp"

#include "codec/checksum/crc32c.hpp"

namespace scute::core::log {

uint32_t segment_head_checksum(const format::segment_head& h) noexcept {
  constexpr size_t before = offsetof(format::segment_head, salt);
  return codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + before, sizeof h - before);
}

uint32_t seed_of(const format::segment_head& h) noexcept {
  const uint64_t words[] = {h.salt, h.epoch, h.generation, h.lane};
  return codec::crc32c(0, words, sizeof words);
}

uint32_t frame_head_checksum(uint32_t seed, uint64_t position,
                             const format::frame_head& h) noexcept {
  constexpr size_t before = sizeof h.checksum;
  // Two start values never give one message the same sum; the factor is odd, so that no two
  // positions share a start value.
  const uint32_t place = static_cast<uint32_t>(position) * 0x9e3779b1U;
  return codec::crc32c(seed ^ place, reinterpret_cast<const std::byte*>(&h) + before,
                       sizeof h - before);
}

uint32_t segment_end_checksum(uint32_t seed, const format::segment_end& e) noexcept {
  constexpr size_t before = offsetof(format::segment_end, end);
  return codec::crc32c(~seed, reinterpret_cast<const std::byte*>(&e) + before, sizeof e - before);
}

}  // namespace scute::core::log

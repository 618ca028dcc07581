// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/area.hpp"

#include "codec/checksum/crc32c.hpp"

namespace scute::core::log {

uint32_t range_sums::of(uint64_t from, uint64_t n) {
  constexpr uint64_t passes_max = 4;  // entries that a ring has partly overwritten are summed too
  if (prefixes_.empty()) {
    if (n <= passes_max * (end_ - begin_) - summed_) {
      summed_ += n;
      return codec::crc32c(0, base_ + from, n);
    }
    build();
  }
  // sum(A and then B) = sum(A) shifted by B's length ^ sum(B)
  return codec::crc32c_shift(prefix(from), n) ^ prefix(from + n);
}

void range_sums::build() {
  prefixes_.reserve((end_ - begin_) / 64 + 1);
  uint32_t sum = 0;
  for (uint64_t at = begin_; at < end_; at += 64) {
    prefixes_.push_back(sum);
    sum = codec::crc32c(sum, base_ + at, 64);
  }
  prefixes_.push_back(sum);
}

uint32_t range_sums::prefix(uint64_t to) const noexcept {
  const uint64_t line = (to - begin_) / 64;
  return codec::crc32c(prefixes_[line], base_ + begin_ + line * 64, (to - begin_) % 64);
}

std::optional<entry_view> area::at(const identity& whose, uint64_t position) {
  if (position + sizeof(format::log_entry) > end_) return std::nullopt;
  for (uint32_t r = 0; r < copies_; ++r) {
    const std::byte* at = base_[r] + position;
    format::log_entry e;
    std::memcpy(&e, at, sizeof e);
    if (!fits(e, whose, position, end_ - position)) continue;
    constexpr uint64_t before = offsetof(format::log_entry, checksum) + sizeof e.checksum;
    if (e.checksum != sums_[r].of(position + before, sizeof e + e.body_size - before)) continue;
    return entry_view{e, at + sizeof e};
  }
  return std::nullopt;
}

}  // namespace scute::core::log

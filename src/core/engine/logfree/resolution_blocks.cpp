// SPDX-License-Identifier: BSD-3-Clause
// Notes which blocks are resolved, found sound, or looked at by the slow part (RES-1, RES-2).
#include "core/engine/logfree/extents.hpp"
#include "core/engine/logfree/resolution.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::engine {

bool resolution::is_set(const bitmap& bits, uint64_t zone, uint64_t block) const noexcept {
  const uint64_t i = zone * per_zone_ + block;
  return (bits[i / 64].load(std::memory_order_seq_cst) >> i % 64 & 1) != 0;
}

bool resolution::set(bitmap& bits, uint64_t zone, uint64_t block) noexcept {
  const uint64_t i = zone * per_zone_ + block;
  const uint64_t bit = uint64_t{1} << i % 64;
  return (bits[i / 64].fetch_or(bit, std::memory_order_seq_cst) & bit) == 0;
}

void resolution::mark(uint64_t zone, uint64_t block) noexcept {
  set(sound_bits_, zone, block);
  if (set(resolved_bits_, zone, block)) done_.fetch_add(1, std::memory_order_relaxed);
}

bool resolution::is_over(uint64_t zone, uint64_t block) noexcept {
  if (!is_set(seen_bits_, zone, block)) set(seen_bits_, zone, block);
  return is_sound(zone, block);
}

// Whether transactions of this session may have changed the fragment, or be about to (RES-2). Bytes
// that they do not write are not considered.
bool resolution::is_left_alone(const pool::fragment& f) noexcept {
  const uint32_t n = pool::covered(s_, f, header_at(f.header));
  bool all = true;
  for_each_extent(f, n == pool::not_covered ? f.room : n, [&](uint64_t offset, uint64_t length) {
    for_each_part(s_.geo, offset, length, [&](uint64_t, uint64_t zone, uint64_t column, uint64_t) {
      all = is_over(zone, column / block_size) && all;
    });
  });
  return all;
}

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/small_changes.hpp"

#include <cstring>

#include "core/shared/fragment.hpp"

namespace scute::core::tx {
namespace {

using member_change = small_member::change;

// Up to this size bytes are compared word by word, and all that differ form one range.
constexpr uint64_t by_words_max = 128;

uint64_t word_at(const std::byte* p) noexcept {
  uint64_t x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

}  // namespace

bool is_unchanged(const pool::state& s, const pool::lane& l, const small_member& m) noexcept {
  if (m.what == member_change::fresh) return true;
  const pool::optimistic_reads mark;
  if (s.overlaid.open_elsewhere(m.header + format::header_size, m.room, l.index)) return false;
  format::fragment_header h;
  std::memcpy(&h, s.at(m.header), sizeof h);
  return std::memcmp(&h, &m.read, sizeof h) == 0;
}

void seal_small(const pool::state& s, const pool::lane& l, const small_member& m) noexcept {
  const bool freed = m.what == member_change::freed;
  format::fragment_header h;
  h.type = freed ? 0 : m.type;
  h.meta = freed ? format::make_meta(0, format::role::free, m.generation)
                 : format::make_meta(m.size, format::role::live, m.generation);
  h.tag = format::make_tag(s.sb.epoch, l.index, l.sequence + 1);
  h.next = m.header;
  // Without checksums of objects the sum is of the header alone.
  const uint32_t covered = freed || !s.has_checksums ? 0 : m.size;
  h.checksum = pool::header_checksum(covered == 0 ? codec::checksum_kind::crc32c : s.checksum,
                                     m.header, h, m.image + format::header_size, covered);
  std::memcpy(m.image, &h, sizeof h);
}

bool find_change(const std::byte* there, const std::byte* here, uint64_t from, uint64_t end,
                 codec::diff_range& d) noexcept {
  there += from;
  here += from;
  const uint64_t n = end - from;
  if (n <= by_words_max && n % 8 == 0) {
    uint64_t first = 0, last = n;
    while (first != n && word_at(there + first) == word_at(here + first)) first += 8;
    if (first == n) return false;
    while (word_at(there + last - 8) == word_at(here + last - 8)) last -= 8;
    d = {first, last};
  } else if (!codec::next_diff(there, here, n, 0, small_join_gap, d)) {
    return false;
  }
  d.begin += from;
  d.end += from;
  return true;
}

}  // namespace scute::core::tx

// SPDX-License-Identifier: BSD-3-Clause
// Computes, for the short way of a commit, whether a small member is unchanged since it was read,
// its new header, and the parts of it that are written. For engines that lock objects
// (core/shared/object_locks.hpp) and write their changes piece by piece.
#pragma once

#include "codec/diff/diff.hpp"
#include "core/shared/optimistic.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::tx {

// CONFLICT-1: the caller has its object lock. If the header was changed or damaged this returns
// false, and the general path repairs it.
bool is_unchanged(const pool::state& s, const pool::lane& l, const small_member& m) noexcept;

// Whether its header is written. Without checksums a change leaves it as it is (CONFLICT-4).
inline bool writes_header(const pool::state& s, const small_member& m) noexcept {
  using is = small_member::change;
  return s.has_checksums || m.what == is::fresh || m.what == is::freed;
}
// Puts the new header into the image, with the tag of the lane's next entry.
void seal_small(const pool::state& s, const pool::lane& l, const small_member& m) noexcept;

// Finds the first range of bytes of [from, end) in which the two differ. The range ends at the
// first run of join_gap equal bytes. Returns false if they do not differ.
bool find_change(const std::byte* there, const std::byte* here, uint64_t from, uint64_t end,
                 codec::diff_range& d) noexcept;

// A range is written in at most this many parts. At least join_gap equal bytes lie between two of
// them, since each record costs 16 bytes and a piece. The first change is one part with the header
// if it begins within join_head bytes.
inline constexpr size_t small_parts_max = 8;
inline constexpr uint64_t small_join_gap = 64, small_join_head = 64;

// Calls part(begin, end, why) for the parts of the payload that differ from `from` on, in [begin,
// end) of the member, header included.
template <typename Fn>
void for_each_difference(const pool::state& s, const small_member& m, uint64_t from, uint64_t end,
                         size_t parts, Fn&& part) {
  constexpr uint64_t head = format::header_size;
  const std::byte *there = s.at(m.header) + head, *here = m.image + head;
  codec::diff_range d{};
  for (; from < end && find_change(there, here, from, end, d); from = d.end + small_join_gap) {
    if (++parts == small_parts_max) d.end = end;
    part(head + d.begin, head + d.end, medium::purpose::data);
  }
}

// The same for everything of a member that is written, except ranges in place: its header
// (writes_header()), which is sealed, and the changed bytes of its payload. Returns false if
// nothing has changed.
template <typename Fn>
bool for_each_change(const pool::state& s, const small_member& m, Fn&& part) {
  using is = small_member::change;
  using medium::purpose;
  constexpr uint64_t head = format::header_size;
  if (m.what == is::fresh) return part(0, head + m.size, purpose::data), true;
  if (m.what != is::contents) {
    if (writes_header(s, m)) part(0, head, purpose::metadata);
    return true;
  }
  const pool::optimistic_reads mark;
  if (!s.has_checksums) {
    bool any = false;
    for (const byte_range& r : m.open)
      for_each_difference(s, m, r.begin, r.end, 0, [&](uint64_t begin, uint64_t end, purpose why) {
        any = true;
        part(begin, end, why);
      });
    return any;
  }
  codec::diff_range d{};
  if (!find_change(s.at(m.header) + head, m.image + head, 0, m.size, d)) return false;
  if (d.begin <= small_join_head) {
    part(0, head + d.end, purpose::data);
  } else {
    part(0, head, purpose::metadata);
    part(head + d.begin, head + d.end, purpose::data);
  }
  for_each_difference(s, m, d.end + small_join_gap, m.size, 1, part);
  return true;
}

}  // namespace scute::core::tx

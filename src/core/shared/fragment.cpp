// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/fragment.hpp"

#include <algorithm>
#include <cstring>

#include "core/shared/optimistic.hpp"

namespace scute::core::pool {

fragment metadata_fragment(uint64_t header, uint32_t type) noexcept {
  fragment f;
  f.header = header;
  f.payload = header + format::header_size;
  f.room = 32;
  f.object_room = 32;
  f.type = type;
  f.metadata = true;
  return f;
}

uint32_t covered(const state& s, const fragment& f, const format::fragment_header& h) noexcept {
  const uint64_t size = format::meta_size(h.meta);
  const format::role st = format::meta_role(h.meta);
  if (h.next != f.header &&
      (f.metadata || h.next % format::header_size != 0 || !s.geo.in_data(h.next, sizeof h)))
    return not_covered;
  if (format::meta_generation(h.meta) != f.generation) return not_covered;
  if (f.metadata)
    return st == format::role::live && h.type == f.type && size == f.room ? f.room : not_covered;
  switch (st) {
    case format::role::free: return f.index == 0 ? 0 : not_covered;
    case format::role::live: {
      if (f.index != 0 || size == 0 || size > f.object_room) return not_covered;
      const auto part = static_cast<uint32_t>(std::min(size, format::fragment_payload));
      if (part > f.room) return not_covered;
      return s.has_checksums ? part : 0;
    }
    case format::role::part:
      if (f.index == 0 || size == 0 || size > f.room) return not_covered;
      return s.has_checksums ? static_cast<uint32_t>(size) : 0;
    case format::role::none: break;
  }
  return not_covered;
}

bool valid(const state& s, const fragment& f, const format::fragment_header& h,
           const void* payload) noexcept {
  const uint32_t n = covered(s, f, h);
  return n != not_covered && h.checksum == header_checksum(s, f, h, payload, n);
}

namespace {

// Tests a fragment that an open transaction has stored to in place: header and parity match the old
// bytes. Works piece by piece, since handlers of faults call it too, and have little stack.
[[gnu::noinline]] bool valid_with_old_bytes(const state& s, const fragment& f,
                                            const format::fragment_header& h) noexcept {
  std::byte old[512];
  if (f.room <= sizeof old) {
    std::memcpy(old, s.at(f.payload), f.room);
    s.overlaid.substitute(f.payload, old, f.room);
    return valid(s, f, h, old);
  }
  const uint32_t n = covered(s, f, h);
  if (n == not_covered) return false;
  const codec::checksum_kind kind = checksum_kind(s, f, n);
  uint32_t sum = codec::checksum(kind, nullptr, 0, nullptr, 0);
  for (uint32_t at = 0, more = 0; at < n; at += more) {
    more = std::min<uint32_t>(n - at, sizeof old);
    std::memcpy(old, s.at(f.payload + at), more);
    s.overlaid.substitute(f.payload + at, old, more);
    sum = codec::checksum_more(kind, sum, old, more);
  }
  const auto* const tail = reinterpret_cast<const std::byte*>(&h) + sizeof h.checksum;
  sum = codec::checksum_more(kind, sum, tail, format::header_tail);
  return h.checksum == bind(sum, f.header);
}

}  // namespace

bool valid(const state& s, const fragment& f) noexcept {
  format::fragment_header h;
  return valid(s, f, h);
}

bool valid(const state& s, const fragment& f, format::fragment_header& h) noexcept {
  const optimistic_reads mark;
  std::memcpy(&h, s.at(f.header), sizeof h);
  if (!s.overlaid.touches(f.payload, f.room)) return valid(s, f, h, s.at(f.payload));
  return valid_with_old_bytes(s, f, h);
}

bool valid_unless_lost(const state& s, const fragment& f, format::fragment_header& h) noexcept {
  const optimistic_reads mark;
  std::byte payload[format::fragment_payload];
  if (!s.medium->read_unless_lost(f.header, &h, sizeof h)) return false;
  const bool open = s.overlaid.touches(f.payload, f.room);
  const uint32_t n = open ? f.room : covered(s, f, h);
  if (n == not_covered || !s.medium->read_unless_lost(f.payload, payload, n)) return false;
  if (open) s.overlaid.substitute(f.payload, payload, n);
  return valid(s, f, h, payload);
}

void seal(const state& s, const lane& l, const fragment& f, format::fragment_header& h,
          const void* payload, uint32_t length) noexcept {
  h.tag = format::make_tag(s.sb.epoch, l.index, l.sequence + 1);
  h.next = f.header;
  h.checksum = header_checksum(s, f, h, payload, length);
}

void join_ring(const state& s, const fragment& f, format::fragment_header& h, uint32_t length,
               uint64_t next) noexcept {
  const uint64_t before = h.next;
  h.next = next;
  h.checksum = bind(codec::checksum_update(checksum_kind(s, f, length),
                                           unbind(h.checksum, f.header), &before, &next, 8, 0),
                    f.header);
}

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
#include "pool/fragment.hpp"

#include <algorithm>
#include <cstring>

#include "medium/planted.hpp"
#include "pool/optimistic.hpp"

namespace scute::pool {

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
  const format::state st = format::meta_state(h.meta);
  if (h.next != f.header && !SCUTE_PLANTED(header_place)) return not_covered;
  if (format::meta_generation(h.meta) != f.generation && !SCUTE_PLANTED(header_generation))
    return not_covered;
  if (f.metadata)
    return st == format::state::live && h.type == f.type && size == f.room ? f.room : not_covered;
  switch (st) {
    case format::state::free: return f.index == 0 ? 0 : not_covered;
    case format::state::live: {
      if (f.index != 0 || size == 0 || size > f.object_room) return not_covered;
      const auto part = static_cast<uint32_t>(std::min(size, format::fragment_payload));
      if (part > f.room) return not_covered;
      return s.has_checksums ? part : 0;
    }
    case format::state::part:
      if (f.index == 0 || size == 0 || size > f.room) return not_covered;
      return s.has_checksums ? static_cast<uint32_t>(size) : 0;
    case format::state::none: break;
  }
  return not_covered;
}

uint32_t header_checksum(const state& s, const fragment& f, const format::fragment_header& h,
                         const void* payload, uint32_t length) noexcept {
  // Metadata and bare headers always use CRC-32C: Adler-32 is weak on short messages.
  const auto kind = f.metadata || length == 0 ? codec::checksum_kind::crc32c : s.checksum;
  return codec::checksum(kind, payload, length, reinterpret_cast<const std::byte*>(&h) + 4,
                         format::header_tail);
}

bool valid(const state& s, const fragment& f, const format::fragment_header& h,
           const void* payload) noexcept {
  const uint32_t n = covered(s, f, h);
  return n != not_covered &&
         (SCUTE_PLANTED(fragment_checksum) || h.checksum == header_checksum(s, f, h, payload, n));
}

bool valid(const state& s, const fragment& f) noexcept {
  const optimistic_reads mark;
  format::fragment_header h;
  std::memcpy(&h, s.at(f.header), sizeof h);
  if (!s.overlaid.touches(f.payload, f.room)) return valid(s, f, h, s.at(f.payload));
  // Stored to in place by a transaction that is still open: header and parity are of the old bytes.
  std::byte old[format::fragment_payload];
  std::memcpy(old, s.at(f.payload), f.room);
  s.overlaid.patch(f.payload, old, f.room);
  return valid(s, f, h, old);
}

void seal(const state& s, const lane& l, const fragment& f, format::fragment_header& h,
          const void* payload, uint32_t length) noexcept {
  h.tag = format::make_tag(s.sb.epoch, l.index, l.sequence + 1);
  h.next = f.header;
  h.checksum = header_checksum(s, f, h, payload, length);
}

}  // namespace scute::pool

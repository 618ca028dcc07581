// SPDX-License-Identifier: BSD-3-Clause
// The parts of a foreign pool's spans that are in use, and the part of the file's last page that is
// in no file.
#pragma once

#include "base/rounding.hpp"
#include "core/shared/state.hpp"

namespace scute::core::pool {

// The parts of a foreign pool's span in one zone that are in use. The rest of the span is room to
// grow.
struct foreign_parts {
  uint64_t headers, headers_end;
  uint64_t payload, payload_end;
  // In memory the file's last page extends to here; bytes after the file's end are in no file.
  uint64_t memory_end;

  bool in_use(uint64_t offset) const noexcept {
    return (offset >= headers && offset < headers_end) ||
           (offset >= payload && offset < payload_end);
  }
};
// The pool must be a foreign one.
inline foreign_parts foreign_parts_of(const state& s, uint64_t zone) noexcept {
  const uint64_t size = __atomic_load_n(&s.sb.foreign.size, __ATOMIC_ACQUIRE);
  const uint64_t mine = s.foreign->object_size(zone, size);
  const uint64_t fragments = (mine + format::fragment_payload - 1) / format::fragment_payload;
  foreign_parts p{};
  p.headers = s.foreign->span_offset(s.geo, zone);
  p.headers_end = p.headers + fragments * format::header_size;
  p.payload = s.foreign->payload_offset(s.geo, zone);
  p.payload_end = p.payload + mine;
  p.memory_end =
      s.foreign->covered(zone, size) == 0 ? p.payload_end : round_up(p.payload_end, format::page);
  return p;
}

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/scrub_mark.hpp"

#include <cstring>

#include "base/locks/lock.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/shared/optimistic.hpp"

namespace scute::core::scrub {
namespace {

uint32_t checksum_of(const pool::state& s, const format::scrub_mark& m) noexcept {
  constexpr size_t behind = sizeof m.checksum;
  return codec::crc32c(codec::crc32c(0, &s.salt, sizeof s.salt),
                       reinterpret_cast<const std::byte*>(&m) + behind, sizeof m - behind);
}

}  // namespace

format::scrub_mark read_mark(const pool::state& s) noexcept {
  const pool::optimistic_reads mark;
  format::scrub_mark best{};
  for (unsigned i = 0; i < 3; ++i) {
    format::scrub_mark m;
    std::memcpy(&m, s.at(s.geo.superblock_offset(i) + format::scrub_mark_offset), sizeof m);
    if (m.checksum == checksum_of(s, m) && m.sequence > best.sequence) best = m;
  }
  return best;
}

void write_mark(pool::state& s, uint64_t position, uint64_t started_ns, uint64_t completed_ns) {
  format::scrub_mark m = read_mark(s);
  ++m.sequence;
  m.position = position;
  m.started_ns = started_ns;
  m.completed_ns = completed_ns;
  m.checksum = checksum_of(s, m);
  const locked hold(s.service_mutex);
  const pool::writes_under_optimistic_reads mark;
  for (unsigned i = 0; i < 3; ++i) {
    std::byte* at = s.at(s.geo.superblock_offset(i) + format::scrub_mark_offset);
    s.service->stream(at, &m, sizeof m, medium::purpose::metadata);
  }
  s.service->fence(fence_site::scrub_mark);
}

}  // namespace scute::core::scrub

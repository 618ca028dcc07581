// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/marks.hpp"

#include <ctime>

#include "base/locks/lock.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/shared/optimistic.hpp"

namespace scute::core::pool {
namespace {

using format::pool_marks;

uint32_t checksum_of(const state& s, const pool_marks& m) noexcept {
  constexpr size_t behind = sizeof m.checksum;
  return codec::crc32c(codec::crc32c(0, &s.salt, sizeof s.salt),
                       reinterpret_cast<const std::byte*>(&m) + behind, sizeof m - behind);
}

std::byte* line(const state& s, unsigned copy) noexcept {
  return s.at(s.geo.superblock_offset(copy) + format::pool_marks_offset);
}

}  // namespace

uint64_t calendar_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

pool_marks read_marks(const state& s) noexcept {
  const optimistic_reads mark;
  pool_marks best{};
  for (unsigned i = 0; i < 3; ++i) {
    pool_marks m;
    const uint64_t at = s.geo.superblock_offset(i) + format::pool_marks_offset;
    if (!s.medium->read(at, &m, sizeof m)) continue;
    if (m.checksum == checksum_of(s, m) && m.sequence > best.sequence) best = m;
  }
  return best;
}

void mark_scrub(state& s, uint64_t position, uint64_t started_ns, uint64_t completed_ns) {
  const locked hold(s.service_mutex);
  pool_marks m = read_marks(s);
  ++m.sequence;
  m.position = position;
  m.started_ns = started_ns;
  m.completed_ns = completed_ns;
  m.checksum = checksum_of(s, m);
  const writes_under_optimistic_reads mark;
  for (unsigned i = 0; i < 3; ++i)
    s.service->stream(line(s, i), &m, sizeof m, medium::purpose::metadata);
  s.service->fence(fence_site::scrub_mark);
}

void mark_checkpoint(state& s, medium::writer& w, uint64_t ns) noexcept {
  pool_marks m = read_marks(s);
  ++m.sequence;
  m.checkpointed_ns = ns;
  m.checksum = checksum_of(s, m);
  const writes_under_optimistic_reads mark;
  w.stream(line(s, static_cast<unsigned>(m.sequence % 3)), &m, sizeof m, medium::purpose::metadata);
}

void note_lost_log(state& s) noexcept {
  format::lost_log& l = s.sb.lost;
  l.session = s.sb.epoch;
  l.since_ns = read_marks(s).checkpointed_ns;
  l.opened_ns = calendar_ns();
  ++l.times;
}

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
// Lost pages without parity: superblocks, lanes, logs in chunks, space in no use
// (core/repair/page_repair.hpp).
#include <cstring>

#include "base/locks/lock.hpp"
#include "core/repair/page_repair.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core::repair {

page_repairer::outcome page_repairer::repair_plain_page(uint64_t page,
                                                        scute_finder finder) noexcept {
  const auto& g = s_.geo;
  const locked turn(plain_.taken);
  if (!s_.medium->is_revoked(page)) return outcome::readable;
  scute_event_kind kind = SCUTE_EVENT_FREE;
  bool known = true;
  std::memset(plain_.page, 0, format::page);
  if (page == 0 || page == format::page || page == g.superblock_offset(2)) {
    kind = SCUTE_EVENT_SUPERBLOCK;
    known = superblock_page(page, plain_.page);
  } else if (page >= g.lanes_offset && page < g.zones_offset) {
    kind = SCUTE_EVENT_LOG;
    const uint64_t replica = g.lane_size * g.lane_count;
    const bool first = page < g.lanes_offset + replica;
    known = g.lane_replicas > 1 &&
            s_.medium->read(first ? page + replica : page - replica, plain_.page, format::page);
    // Without replicas the log is gone. It matters only if a crash comes now.
    if (!known && g.lane_replicas == 1) return outcome::hopeless;
  }
  if (!s_.medium->restore_page(plain_.w, page, plain_.page) && s_.medium->is_revoked(page))
    return outcome::hopeless;
  repaired_pages.fetch_add(1, std::memory_order_relaxed);
  (known ? s_.repaired : s_.lost).fetch_add(1, std::memory_order_relaxed);
  s_.events.post(
      {kind, known ? SCUTE_OUTCOME_REPAIRED : SCUTE_OUTCOME_LOST, finder, page, format::page});
  return outcome::readable;
}

// PAGE-8. One at a time: bytes that a log's writer stores to the page from here on must not become
// zeros again.
page_repairer::outcome page_repairer::repair_log_page(uint64_t page, scute_finder finder) noexcept {
  const locked turn(log_.taken);
  if (!s_.medium->is_revoked(page)) return outcome::readable;
  std::memset(log_.page, 0, format::page);
  if (!s_.medium->restore_page(log_.w, page, log_.page) && s_.medium->is_revoked(page))
    return outcome::hopeless;
  notes.remove(log_.w, page);
  s_.lost_log.add(page);
  s_.watch.deferred();
  repaired_pages.fetch_add(1, std::memory_order_relaxed);
  s_.repaired.fetch_add(1, std::memory_order_relaxed);
  s_.events.post({SCUTE_EVENT_LOG, SCUTE_OUTCOME_REPAIRED, finder, page, format::page});
  return outcome::readable;
}

// The rest of the page (notes, events) checks itself line by line, so any copy of it will do.
bool page_repairer::superblock_page(uint64_t page, std::byte* bytes) const noexcept {
  bool found = false;
  for (unsigned copy = 0; copy < 3 && !found; ++copy) {
    const uint64_t at = s_.geo.superblock_offset(copy);
    found = at != page && s_.medium->read(at, bytes, format::page);
  }
  const auto& sb = *reinterpret_cast<const format::superblock*>(bytes);
  if (!found || sb.checksum != pool::superblock_checksum(sb)) std::memcpy(bytes, &s_.sb, sizeof sb);
  return true;
}

}  // namespace scute::core::repair

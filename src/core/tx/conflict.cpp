// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/conflict.hpp"

#include <cstring>
#include <string>

#include "base/locks/waiting.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/optimistic.hpp"

namespace scute::core::tx {

void refuse_change(const pool::state& s, uint64_t header) {
  throw failure(
      SCUTE_E_CONFLICT,
      s.path + ": the object at file offset " + std::to_string(header) +
          " is not as this transaction found it: another transaction changed it since or has it "
          "open in place; nothing of this transaction was written. Run it again, or keep a lock "
          "for each object");
}

namespace {

bool is_open_elsewhere(const pool::state& s, const pool::lane& l, uint64_t offset,
                       uint64_t length) noexcept {
  return s.overlaid.open_elsewhere(offset, length, l.index);
}

enum class found : uint8_t { same, changed, damaged };

// CONFLICT-1: a header that differs is checked with the very bytes that were tested.
found look_at(const pool::state& s, const member& m) noexcept {
  if (!s.has_checksums) return found::same;  // CONFLICT-4
  uint64_t tag;
  std::memcpy(&tag, s.at(m.where.header + offsetof(format::fragment_header, tag)), sizeof tag);
  if (tag == m.origin) return found::same;
  switch_point();  // another thread may repair it now
  format::fragment_header tested;
  // This may need stripes that are not held, and a page there may be lost (INFLIGHT-3).
  if (!pool::valid_unless_lost(s, m.where, tested)) return found::damaged;
  return tested.tag == m.origin ? found::same : found::changed;
}

}  // namespace

change find_changed(const pool::state& s, const pool::lane& l,
                    std::span<const member> members) noexcept {
  const pool::optimistic_reads mark;
  for (const member& m : members) {
    if (m.fresh) continue;
    if (is_open_elsewhere(s, l, m.where.payload, m.where.room)) return {&m, false};
    if (const found now = look_at(s, m); now != found::same) return {&m, now == found::damaged};
  }
  return {};
}

void repair_or_refuse(pool::state& s, pool::lane& l, const change& c, int attempt) {
  constexpr int attempts_max = 100;
  if (!c.damaged || attempt == attempts_max) refuse_change(s, c.which->where.header);
  repair::repair_fragment(s, &l, c.which->where, "object");
}

void require_closed(const pool::state& s, const pool::lane& l, uint64_t header, uint64_t offset,
                    uint64_t length) {
  if (is_open_elsewhere(s, l, offset, length)) refuse_change(s, header);
}

}  // namespace scute::core::tx

// SPDX-License-Identifier: BSD-3-Clause
#include "tx/conflict.hpp"

#include <cstring>
#include <string>

#include "base/planted.hpp"
#include "pool/optimistic.hpp"

namespace scute::tx {

void refuse_change(const pool::state& s, uint64_t header) {
  throw failure(
      SCUTE_E_CONFLICT,
      s.path + ": the object at file offset " + std::to_string(header) +
          " is not as this transaction found it: another transaction changed it since or has it "
          "open in place, or damage struck its header; nothing of this transaction was written. "
          "Run it again, which repairs damage, or keep a lock per object");
}

namespace {

bool is_open_elsewhere(const pool::state& s, const pool::lane& l, uint64_t offset,
                       uint64_t length) noexcept {
  return s.overlaid.open_elsewhere(offset, length, l.index);
}

bool has_changed(const pool::state& s, const member& m) noexcept {
  if (!s.has_checksums || SCUTE_PLANTED(conflict_test)) return false;  // CONFLICT-4
  uint64_t tag;
  std::memcpy(&tag, s.at(m.where.header + offsetof(format::fragment_header, tag)), sizeof tag);
  return tag != m.origin;
}

}  // namespace

const member* find_changed(const pool::state& s, const pool::lane& l,
                           std::span<const member> members) noexcept {
  const pool::optimistic_reads mark;
  for (const member& m : members)
    if (!m.fresh && (has_changed(s, m) || is_open_elsewhere(s, l, m.where.payload, m.where.room)))
      return &m;
  return nullptr;
}

void require_unchanged(const pool::state& s, const pool::lane& l, std::span<const member> members) {
  if (const member* m = find_changed(s, l, members)) refuse_change(s, m->where.header);
}

void require_closed(const pool::state& s, const pool::lane& l, uint64_t header, uint64_t offset,
                    uint64_t length) {
  if (is_open_elsewhere(s, l, offset, length)) refuse_change(s, header);
}

}  // namespace scute::tx

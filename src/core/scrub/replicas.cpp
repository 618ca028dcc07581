// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/replicas.hpp"

#include <cstring>
#include <vector>

#include "base/locks/lock.hpp"
#include "core/engine/common/lane_log.hpp"
#include "core/log/entry.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core::scrub {
namespace {

// Bytes of the valid entry at a position of a replica, padding included; 0 if there is none.
uint64_t entry_size(const pool::state& s, uint32_t lane, uint32_t replica, uint64_t position,
                    uint64_t end) {
  const std::byte* at = s.at(s.geo.lane_offset(lane, replica) + position);
  format::log_entry e;
  std::memcpy(&e, at, sizeof e);
  if (!log::fits(e, engine::identity_of(s, lane), position, end - position)) return 0;
  if (e.checksum != log::entry_checksum(at, sizeof e + e.body_size)) return 0;
  return std::min(log::round_line(sizeof e + e.body_size), end - position);
}

}  // namespace

void repair_log(pool::state& s, tx::engine& e, bool repair, repair_tally& t,
                const suspect_repairer::finding_fn& report) {
  e.look_at_log(repair, [&](const tx::log_finding& f) {
    ++t.damaged;
    if (f.repaired) {
      ++t.repaired;
      s.repaired.fetch_add(1, std::memory_order_relaxed);
    }
    s.events.post({SCUTE_EVENT_LOG, f.repaired ? SCUTE_OUTCOME_REPAIRED : SCUTE_OUTCOME_DETECTED,
                   scute_finder{}, f.offset, f.length});
    report({f.what, f.offset, f.length, 0, f.repaired});
  });
}

void repair_superblocks(pool::state& s, bool repair, repair_tally& t,
                        const suspect_repairer::finding_fn& report) {
  std::vector<uint64_t> bad;
  {
    const locked hold(s.service_mutex);
    for (unsigned i = 0; i < 3; ++i) {
      format::superblock copy;
      const uint64_t at = s.geo.superblock_offset(i);
      std::memcpy(&copy, s.at(at), sizeof copy);
      if (std::memcmp(&copy, &s.sb, sizeof copy) != 0) bad.push_back(at);
    }
    if (!bad.empty() && repair) {
      pool::write_superblock(*s.service, s.sb);
      s.require_healthy();
    }
  }
  // Without the lock: the callback may call into the pool.
  for (const uint64_t at : bad) {
    ++t.damaged;
    if (repair) {
      ++t.repaired;
      s.repaired.fetch_add(1, std::memory_order_relaxed);
    }
    s.events.post({SCUTE_EVENT_SUPERBLOCK, repair ? SCUTE_OUTCOME_REPAIRED : SCUTE_OUTCOME_DETECTED,
                   scute_finder{}, at, sizeof(format::superblock)});
    report({"superblock copy", at, sizeof(format::superblock), 0, repair});
  }
}

void repair_lane(pool::state& s, pool::lane& l, bool repair, repair_tally& t,
                 const suspect_repairer::finding_fn& report) {
  if (s.geo.lane_replicas != 2) return;
  bool wrote = false;
  // Copies n bytes of the lane from one replica to the other.
  const auto copy_over = [&](uint64_t position, uint64_t n, unsigned from) {
    const uint64_t at = s.geo.lane_offset(l.index, 1 - from) + position;
    ++t.damaged;
    if (repair) {
      l.w.stream(s.at(at), s.at(s.geo.lane_offset(l.index, from) + position), n,
                 medium::purpose::log);
      wrote = true;
      ++t.repaired;
      s.repaired.fetch_add(1, std::memory_order_relaxed);
    }
    s.events.post({SCUTE_EVENT_LOG, repair ? SCUTE_OUTCOME_REPAIRED : SCUTE_OUTCOME_DETECTED,
                   scute_finder{}, at, n});
    report({"log replica", at, n, 0, repair});
  };
  using log::status_word;
  for (const auto which : {status_word::applied, status_word::undone}) {
    const uint64_t position = which == status_word::applied ? offsetof(format::lane_status, applied)
                                                            : offsetof(format::lane_status, undone);
    const uint64_t most = which == status_word::applied ? l.logged : l.transaction;
    bool says[2];
    uint64_t value[2] = {};
    for (unsigned r = 0; r < 2; ++r) {
      uint64_t word = 0;
      std::memcpy(&word, s.at(s.geo.lane_offset(l.index, r) + position), sizeof word);
      // No valid word says more than has happened, whatever its check (LOG-5).
      says[r] = log::read_status_word(engine::identity_of(s, l.index), which, word, value[r]) &&
                value[r] <= most;
    }
    // (If neither replica has a valid word there is nothing to copy.)
    if (says[0] == says[1] && (!says[0] || value[0] == value[1])) continue;
    // A word that fails its check says nothing, whatever its value looks like.
    copy_over(position, sizeof(uint64_t), !says[0] || (says[1] && value[1] > value[0]) ? 1 : 0);
  }
  const auto area = [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at + sizeof(format::log_entry) <= end;) {
      const uint64_t n[2] = {entry_size(s, l.index, 0, at, end),
                             entry_size(s, l.index, 1, at, end)};
      if ((n[0] == 0) != (n[1] == 0)) copy_over(at, std::max(n[0], n[1]), n[0] != 0 ? 0 : 1);
      at += std::max({uint64_t{64}, n[0], n[1]});
    }
  };
  area(format::lane_log_offset, format::lane_undo_offset(s.geo.lane_size));
  area(format::lane_undo_offset(s.geo.lane_size), s.geo.lane_size);
  if (!wrote) return;
  l.w.fence(fence_site::replicas);
  s.require_healthy();
}

}  // namespace scute::core::scrub

// SPDX-License-Identifier: BSD-3-Clause
#include "engine/common/recovery.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/planted.hpp"
#include "engine/common/log_reader.hpp"
#include "engine/common/touched_columns.hpp"
#include "pool/blocks.hpp"
#include "pool/columns.hpp"
#include "pool/zone_usage.hpp"

namespace scute::core::engine {
namespace {

// RECOVER-1. No fence if there is nothing to replay.
void make_durable(pool::state& s, medium::writer& w, const std::vector<found_log>& logs) {
  bool any = false;
  const auto flush = [&](const std::vector<place>& places) {
    for (const place& p : places) w.flush(s.at(p.offset), p.length, medium::purpose::log);
    any = any || !places.empty();
  };
  for (const found_log& log : logs) {
    if (log.last) flush(log.last->places);
    flush(log.undo_places);
  }
  if (!any) return;
  w.fence(fence_site::replay);
  s.require_healthy();
}

// Calls fn(file offset, header) for each chunk of a zone that is lent to a log.
template <typename Fn>
void for_each_lent(const pool::state& s, uint64_t zone, const pool::zone_usage& x, Fn&& fn) {
  if (x.log_chunks == 0) return;
  for (uint32_t i = 0; i < x.high_water; ++i) {
    const uint64_t at = s.geo.chunk_header_offset(zone, i);
    format::chunk_header h;
    std::memcpy(&h, s.at(at), sizeof h);
    if (h.kind == static_cast<uint8_t>(format::chunk_kind::log) &&
        pool::valid(s, pool::metadata_fragment(at, format::type_chunk)))
      fn(s.geo.chunk_offset(zone, i), h);
  }
}

}  // namespace

lent_before_replay::lent_before_replay(pool::state& s) : s_(s) {
  for (uint64_t z = 0; z < s.geo.zone_count; ++z)
    for_each_lent(s, z, pool::read_usage(s, z), [&](uint64_t chunk, const format::chunk_header& h) {
      if (h.formatted != format::log_chunk_zeroed || s.overlaid.touches(chunk, 1)) return;
      chunks_.push_back(chunk);
      s.overlaid.add(chunk, s.geo.chunk_size, nullptr);
    });
}
lent_before_replay::~lent_before_replay() {
  for (const uint64_t chunk : chunks_) s_.overlaid.remove(chunk);
}

void overlay_lent(pool::state& s, touched_columns* unzeroed) {
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {
    const pool::zone_usage x = pool::read_usage(s, z);
    pool::set_used_end(s, z, x.high_water);
    for_each_lent(s, z, x, [&](uint64_t chunk, const format::chunk_header& h) {
      // Those of a log that outlives sessions are overlaid already (tx::engine::find_log()). Twice would be once too often
      // when the chunk goes back, and its objects would be read as zeros from then on.
      if (!s.overlaid.touches(chunk, 1) && !SCUTE_PLANTED(recovery_overlay))
        s.overlaid.add(chunk, s.geo.chunk_size, nullptr);
      if (unzeroed != nullptr && h.formatted != format::log_chunk_zeroed)
        unzeroed->add(chunk, s.geo.chunk_size);
    });
  }
}

tx::recovery_report recover_from_logs(pool::state& s, medium::writer& w, open_parity parity,
                                      tx::recovery_watch* watch) {
  tx::recovery_report report;
  const bool recomputes = parity == open_parity::unknown;
  touched_columns touched(s.geo);
  std::vector<found_log> logs;
  log_reader reader(s);
  for (uint32_t i = 0; i < s.geo.lane_count; ++i) {
    logs.push_back(reader.read_lane(i));
    auto& log = logs.back();
    if (log.last && log.last->head.sequence <= log.applied && !SCUTE_PLANTED(recovery_applied))
      log.last.reset();
    // Every record is tested, and has its place, before the first one is written anywhere.
    const auto test = [&](format::record_kind, uint64_t offset, const std::byte*, uint32_t n) {
      pool::fill_holes(s, offset, n);
    };
    if (log.last) for_each_record(s, *log.last, test);
    for (const auto& u : log.undo) for_each_record(s, u, test);
  }
  make_durable(s, w, logs);
  std::optional<lent_before_replay> lent(s);
  if (watch != nullptr) watch->replay_begins();
  // REDO-6: of entries that write the same bytes the one with the higher sequence is the later one.
  std::stable_sort(logs.begin(), logs.end(), [](const found_log& a, const found_log& b) {
    if (SCUTE_PLANTED(recovery_order)) return false;
    return (a.last ? a.last->head.sequence : 0) < (b.last ? b.last->head.sequence : 0);
  });
  for (const auto& log : logs) {
    if (!log.last || SCUTE_PLANTED(recovery_redo)) continue;
    for_each_record(s, *log.last,
                    [&](format::record_kind, uint64_t offset, const std::byte* bytes, uint32_t n) {
                      if (bytes != nullptr)
                        w.stream(s.at(offset), bytes, n, medium::purpose::data);
                      else if (!SCUTE_PLANTED(recovery_intent))
                        w.flush(s.at(offset), n, medium::purpose::data);  // RECOVER-2
                      touched.add(offset, n);
                    });
    ++report.completed;
  }
  for (const auto& log : logs) {
    if (SCUTE_PLANTED(recovery_undo)) break;
    for (auto u = log.undo.rbegin(); u != log.undo.rend(); ++u)
      for_each_record(
          s, *u, [&](format::record_kind, uint64_t offset, const std::byte* bytes, uint32_t n) {
            if (bytes != nullptr) w.stream(s.at(offset), bytes, n, medium::purpose::data);
            if (recomputes) touched.add(offset, n);
          });
    if (!log.undo.empty()) ++report.undone;
  }
  lent.reset();
  overlay_lent(s, recomputes ? &touched : nullptr);
  if (watch != nullptr) watch->parity_begins(touched.ranges());
  touched.for_each([&](uint64_t offset, uint64_t n) {
    if (!SCUTE_PLANTED(recovery_parity)) pool::recompute(s, w, offset, n);
  });
  w.fence(fence_site::recovery);
  s.require_healthy();
  return report;
}

}  // namespace scute::core::engine

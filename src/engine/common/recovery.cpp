// SPDX-License-Identifier: BSD-3-Clause
#include "engine/common/recovery.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/planted.hpp"
#include "engine/common/log_reader.hpp"
#include "pool/blocks.hpp"
#include "pool/columns.hpp"
#include "pool/zone_usage.hpp"

namespace scute::core::engine {
namespace {

// Touched ranges, merged, and the columns they lie in, each of which is recomputed once. However often
// the logs name a range, it counts once.
class touched_columns {
 public:
  explicit touched_columns(const pool::geometry& g) : g_(g) {}

  void add(uint64_t offset, uint64_t length) { ranges_.push_back({offset, length}); }

  std::span<const pool::data_range> ranges() {
    merge(ranges_);
    return ranges_;
  }

  // Calls fn(offset in row 0, length) for disjoint spans.
  template <typename Fn>
  void for_each(Fn&& fn) {
    std::vector<pool::data_range> spans;
    for (auto [offset, length] : ranges()) {
      while (length != 0) {
        const pool::cell c = pool::cell_of(g_, offset);
        const uint64_t n = std::min(length, g_.row_size - c.column);
        spans.push_back({g_.zone_offset(c.zone) + c.column, n});
        if (SCUTE_PLANTED(recovery_rows)) break;
        offset += n;
        length -= n;
      }
    }
    // Spans of different zones cannot touch: a zone's row 0 is followed by its row 1.
    merge(spans);
    for (const pool::data_range& r : spans) fn(r.offset, r.length);
  }

 private:
  // Sorts ranges and joins those that touch.
  static void merge(std::vector<pool::data_range>& all) {
    std::sort(all.begin(), all.end(), [](const pool::data_range& a, const pool::data_range& b) {
      return a.offset < b.offset;
    });
    size_t kept = 0;
    for (const pool::data_range& r : all) {
      if (kept != 0 && r.offset <= all[kept - 1].offset + all[kept - 1].length) {
        pool::data_range& last = all[kept - 1];
        last.length = std::max(last.offset + last.length, r.offset + r.length) - last.offset;
      } else {
        all[kept++] = r;
      }
    }
    all.resize(kept);
  }

  const pool::geometry& g_;
  std::vector<pool::data_range> ranges_;
};

}  // namespace

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

}  // namespace

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
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {
    const pool::zone_usage x = pool::read_usage(s, z);
    pool::set_used_end(s, z, x.high_water);
    if (x.log_chunks == 0) continue;
    for (uint32_t i = 0; i < x.high_water; ++i) {
      const uint64_t at = s.geo.chunk_header_offset(z, i);
      format::chunk_header h;
      std::memcpy(&h, s.at(at), sizeof h);
      if (h.kind != static_cast<uint8_t>(format::chunk_kind::log) ||
          !pool::valid(s, pool::metadata_fragment(at, format::type_chunk)))
        continue;
      const uint64_t chunk = s.geo.chunk_offset(z, i);
      if (!SCUTE_PLANTED(recovery_overlay)) s.overlaid.add(chunk, s.geo.chunk_size, nullptr);
      if (recomputes && h.formatted != format::log_chunk_zeroed)
        touched.add(chunk, s.geo.chunk_size);
    }
  }
  if (watch != nullptr) watch->parity_begins(touched.ranges());
  touched.for_each([&](uint64_t offset, uint64_t n) {
    if (!SCUTE_PLANTED(recovery_parity)) pool::recompute(s, w, offset, n);
  });
  w.fence(fence_site::recovery);
  s.require_healthy();
  return report;
}

}  // namespace scute::core::engine

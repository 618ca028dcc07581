// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/recovery/gap_detection.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "core/engine/speculative/log_scrubber.hpp"
#include "core/log/segment_writer.hpp"

namespace scute::core::engine {
namespace {

// Words that are the same in every head of the segment: each is either present, or still zero as in
// a newly lent chunk.
bool may_be_torn(const pool::state& s, const log::segment_layout& layout,
                 const format::segment_head& h) noexcept {
  const auto either = [](uint64_t found, uint64_t wanted) { return found == 0 || found == wanted; };
  return either(h.magic, format::segment_magic) && either(h.salt, s.salt) &&
         either(h.redundancy, static_cast<uint32_t>(layout.how())) &&
         either(h.size, layout.size()) && h.lane <= s.geo.lane_count && h.epoch <= s.sb.epoch;
}

// GAP-3, for a segment without a valid head.
bool has_lost_head(const pool::state& s, const log_location& location,
                   const log::segment_layout& layout, const log::segment& at) noexcept {
  const bool tracks = layout.how() == log::redundancy::tracks;
  for (uint32_t c = 0; c < 2; ++c) {
    if (c == 1 && layout.how() == log::redundancy::one_copy) break;
    format::segment_head h;
    const uint64_t offset = tracks ? at.at[0] + (c == 0 ? 0 : layout.sum_offset_of(0)) : at.at[c];
    if (location.target().read(offset, &h, sizeof h) && may_be_torn(s, layout, h)) return false;
  }
  return true;
}

// Segments with a head, by epoch, lane and generation.
using segment_order = std::map<std::tuple<uint64_t, uint32_t, uint64_t>, size_t>;

segment_order order_of(const std::vector<log::segment_contents>& contents) {
  segment_order all;
  for (size_t i = 0; i < contents.size(); ++i)
    if (const auto& h = contents[i].head)
      all.emplace(std::tuple(h->epoch, h->lane, h->generation), i);
  return all;
}

// The segment that the lane of segment `i` used before; `i` itself if no head says which one that
// was.
size_t left_for(const segment_order& order, const format::segment_head& next, size_t i) noexcept {
  auto at = order.lower_bound({next.epoch, next.lane, next.generation});
  if (at == order.begin()) return i;
  const auto& [epoch, lane, generation] = (--at)->first;
  return epoch == next.epoch && lane == next.lane ? at->second : i;
}

}  // namespace

bool is_misleading(const pool::state& s, const log_location& location,
                   const log::segment_layout& layout, const log::segment& at) {
  return has_lost_head(s, location, layout, at) && !reader_of(s, location, layout).read_head(at);
}

void clear_misleading(pool::state& s, medium::writer& w, const log_location& location,
                      const segment_list& list) {
  medium::writer own(location.target());
  medium::writer& to = location.is_apart() ? own : w;
  const log::segment_layout layout = list.layout();
  const std::byte nothing[log::line_size] = {};
  bool any = false;
  for (const log::segment& at : list.segments(s.geo)) {
    if (!is_misleading(s, location, layout, at)) continue;
    log::store_lines(to, location.target().base(), layout, at, 0, nothing);
    any = true;
  }
  if (!any) return;
  to.fence(fence_site::gap_detection);
  if (location.target().failed()) s.medium->fail_with(location.target().failure());
  s.require_healthy();
}

void report_damage(pool::state& s, const log_location& location, const segment_list& list,
                   uint64_t truncation_point, const std::vector<frame_seen>& frames,
                   const std::vector<log::segment_contents>& contents) {
  const log::segment_layout layout = list.layout();
  const std::vector<log::segment> segments = list.segments(s.geo);
  const auto report = [&](size_t segment, uint64_t position, uint64_t n, scute_outcome outcome) {
    (outcome == SCUTE_OUTCOME_LOST ? s.lost : s.repaired).fetch_add(1, std::memory_order_relaxed);
    s.events.post({SCUTE_EVENT_LOG, outcome, scute_finder{},
                   segments[segment].at[0] + layout.offset_of(position), n});
  };
  // GAP-1
  const size_t unfenced_max = location.is_apart() ? s.geo.lane_count : 1;
  std::map<std::pair<uint64_t, uint32_t>, std::set<uint64_t>> highest;  // by epoch and lane
  for (const frame_seen& f : frames) {
    std::set<uint64_t>& h = highest[{f.epoch, f.lane}];
    h.insert(f.lsn);
    if (h.size() > unfenced_max) h.erase(h.begin());
  }
  std::vector<bool> reported(segments.size(), false);
  for (const frame_seen& f : frames) {
    if (f.lane >= s.geo.lane_count) continue;
    const bool fenced = f.lsn < *highest[{f.epoch, f.lane}].begin();
    const bool behind_gap = f.behind_gap && (fenced || !location.is_apart());
    if (f.flawed && fenced) report(f.segment, f.position, f.length, SCUTE_OUTCOME_REPAIRED);
    if ((behind_gap || (fenced && !f.whole)) && !reported[f.segment]) {
      report(f.segment, 0, list.segment_size, SCUTE_OUTCOME_LOST);
      reported[f.segment] = true;
    }
  }
  // GAP-5
  std::set<std::tuple<uint64_t, uint32_t, uint64_t>> there;  // epoch, lane, LSN
  for (const frame_seen& f : frames) there.insert({f.epoch, f.lane, f.lsn});
  const segment_order order = order_of(contents);
  for (size_t i = 0; i < segments.size(); ++i) {
    if (!contents[i].head) continue;
    const format::segment_head& h = *contents[i].head;
    if (h.lane >= s.geo.lane_count || h.before <= truncation_point ||
        there.contains({h.epoch, h.lane, h.before}))
      continue;
    const size_t left = left_for(order, h, i);
    if (!reported[left]) report(left, 0, list.segment_size, SCUTE_OUTCOME_LOST);
    reported[left] = true;
  }
  for (size_t i = 0; i < segments.size(); ++i)
    if (!reported[i] && (contents[i].blind != 0 ||
                         (!contents[i].head && has_lost_head(s, location, layout, segments[i]))))
      report(i, 0, list.segment_size, SCUTE_OUTCOME_LOST);
}

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/logfree/crash_or_damage.hpp"

#include <cstring>
#include <map>
#include <utility>

#include "core/engine/logfree/extents.hpp"
#include "core/repair/page_layout.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/in_place_note.hpp"

namespace scute::core::engine {

crash_or_damage::crash_or_damage(pool::state& s, uint64_t resolved, uint64_t present)
    : s_(s),
      resolved_(resolved),
      present_(present),
      in_place_(pool::noted_in_place(s, resolved, present)) {}

bool crash_or_damage::in_doubt(uint64_t tag) const noexcept {
  return ((epoch_of(tag) - resolved_ - 1) & epoch_mask) < present_ - resolved_ - 1;
}

bool crash_or_damage::put_back(const pool::fragment& f, const format::fragment_header& stored,
                               const format::fragment_header& back) const noexcept {
  if (torn(f, stored, back)) return true;
  s_.repaired.fetch_add(1, std::memory_order_relaxed);
  s_.events.post(repair::event_of(s_, f, SCUTE_OUTCOME_REPAIRED,
                                  format::meta_role(back.meta) == format::role::free));
  return false;
}

void crash_or_damage::report_parity(uint64_t zone, uint64_t column,
                                    uint64_t length) const noexcept {
  s_.repaired.fetch_add(1, std::memory_order_relaxed);
  s_.events.post({SCUTE_EVENT_PARITY, SCUTE_OUTCOME_REPAIRED, scute_finder{},
                  pool::parity_offset(s_.geo, zone, column), length});
}

bool crash_or_damage::torn(const pool::fragment& f, const format::fragment_header& stored,
                           const format::fragment_header& back) const noexcept {
  if (f.metadata) return false;
  for (const pool::data_range& x : in_place_)
    if (f.payload < x.offset + x.length && f.payload + f.room > x.offset) return true;
  if (!in_doubt(stored.tag) || lane_of(stored.tag) >= s_.geo.lane_count) return false;
  if (stored.tag == back.tag || stored.checksum == back.checksum) return false;
  if (owner_of(stored.tag) == owner_of(back.tag) &&
      sequence_of(stored.tag) <= sequence_of(back.tag))
    return false;
  return pool::covered(s_, f, stored) != pool::not_covered;
}

std::vector<bool> crash_or_damage::open_columns(uint64_t zone, uint64_t column,
                                                uint64_t length) const {
  const auto& g = s_.geo;
  const uint64_t end = s_.used_end[zone].load(std::memory_order_acquire);
  std::vector<bool> open(length);
  struct range {
    uint64_t begin, n;  // columns of the block
  };
  struct written {
    uint32_t sequence;
    range columns;
  };
  std::map<uint64_t, std::vector<written>> by_owner;
  for (uint64_t row = 0; row < g.rows; ++row) {
    const uint64_t inside = row * g.row_size + column;
    if (inside >= end) break;
    const uint64_t page = g.zone_offset(zone) + inside;
    std::vector<bool> vouched(length);
    repair::for_each_fragment(s_, page, [&](const repair::fragment_in_page& p) {
      const pool::fragment& f = p.fragment;
      format::fragment_header h;
      std::memcpy(&h, s_.at(f.header), sizeof h);
      const uint32_t n = pool::covered(s_, f, h);
      if (n == pool::not_covered) return;
      const bool doubtful = !f.metadata && in_doubt(h.tag);
      for_each_extent(f, n, [&](uint64_t at, uint64_t bytes) {
        const uint64_t from = std::max(at, page), to = std::min(at + bytes, page + length);
        if (from >= to) return;
        std::fill_n(vouched.begin() + static_cast<long>(from - page), to - from, true);
        if (doubtful)
          by_owner[owner_of(h.tag)].push_back({sequence_of(h.tag), {from - page, to - from}});
      });
    });
    for (uint64_t i = 0; i < length; ++i) {
      if (vouched[i] || inside + i >= end || inside + i < g.chunk_base) continue;
      const uint64_t index = (inside + i - g.chunk_base) >> g.chunk_shift;
      if (index >= g.chunks) break;
      format::chunk_header h;
      std::memcpy(&h, s_.at(g.chunk_header_offset(zone, static_cast<uint32_t>(index))), sizeof h);
      if (h.generation == 0) continue;
      const uint64_t in_chunk = (inside + i - g.chunk_base) & (g.chunk_size - 1);
      if (h.kind == static_cast<uint8_t>(format::chunk_kind::run)) {
        const uint64_t next =
            uint64_t{h.formatted} + format::slots_ahead_max(std::max(h.slot_size, 64u));
        if (in_chunk >= next * h.slot_size) continue;
      }
      open[i] = true;
    }
  }
  for (auto& [owner, all] : by_owner) {
    uint32_t last = 0, before = 0;
    for (const written& w : all) {
      if (w.sequence > last) before = std::exchange(last, w.sequence);
      if (w.sequence < last) before = std::max(before, w.sequence);
    }
    for (const written& w : all)
      if (w.sequence == last || w.sequence == before)
        std::fill_n(open.begin() + static_cast<long>(w.columns.begin), w.columns.n, true);
  }
  return open;
}

}  // namespace scute::core::engine

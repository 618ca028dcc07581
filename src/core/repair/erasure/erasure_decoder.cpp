// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/erasure/erasure_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "base/rounding.hpp"
#include "core/repair/page_layout.hpp"
#include "core/shared/optimistic.hpp"

namespace scute::core::repair {
namespace {

using pool::data_range;

void add_extents(const pool::fragment& f, std::vector<data_range>& to) {
  to.push_back({f.header, format::header_size});
  if (f.room != 0) to.push_back({f.payload, f.room});
}

// Calls fn(zone, row, first column, end column) for the parts of a range, row by row.
template <typename Fn>
void for_each_row(const pool::geometry& g, const data_range& x, Fn&& fn) {
  for (uint64_t at = x.offset, left = x.length; left != 0;) {
    const pool::cell c = pool::cell_of(g, at);
    const uint64_t n = std::min(left, g.row_size - c.column);
    fn(c.zone, c.row, c.column, c.column + n);
    at += n;
    left -= n;
  }
}

}  // namespace

erasure_decoder::erasure_decoder(pool::state& s, const pool::fragment& f, doubt in_doubt) : s_(s) {
  add_extents(f, own_);
  if (s.geo.parity > 1) find_neighbours(in_doubt);
}

void erasure_decoder::find_neighbours(const doubt& in_doubt) {
  const pool::optimistic_reads mark;
  const auto& g = s_.geo;
  std::set<uint64_t> seen{own_.front().offset};
  std::vector<pool::fragment> near;
  for (const data_range& x : own_)
    for_each_row(g, x, [&](uint64_t zone, uint64_t own_row, uint64_t from, uint64_t to) {
      const uint64_t end = s_.used_end[zone].load(std::memory_order_acquire);
      for (uint64_t row = 0; row < g.rows; ++row)
        for (uint64_t column = round_down(from, format::page); column < to;
             column += format::page) {
          const uint64_t inside = row * g.row_size + column;
          if (row == own_row || inside >= end) continue;
          for_each_place(s_, g.zone_offset(zone) + inside, [&](const fragment_in_page& p) {
            // A place that no first header claims need not hold a fragment. A valid fragment there
            // may be prewritten, or of an object that was freed
            // (core/repair/page_layout.hpp, LAYOUT-2).
            if (!p.claimed && pool::valid(s_, first_of(p.fragment)) &&
                (!in_doubt || !pool::valid(s_, p.fragment)))
              return;
            ranges cells;
            add_extents(p.fragment, cells);
            bool shares = false;
            for (const data_range& c : cells)
              for_each_row(g, c, [&](uint64_t z, uint64_t, uint64_t begin, uint64_t stop) {
                shares = shares || (z == zone && begin < to && stop > from);
              });
            if (shares && seen.insert(p.fragment.header).second) near.push_back(p.fragment);
          });
        }
    });
  for (const pool::fragment& f : near) {
    if (!pool::valid(s_, f)) {
      add_extents(f, damaged_);
      continue;
    }
    format::fragment_header h;
    std::memcpy(&h, s_.at(f.header), sizeof h);
    if (f.metadata || !in_doubt || !in_doubt(h.tag)) continue;
    auto o =
        std::find_if(open_.begin(), open_.end(), [&](const open& x) { return x.tag == h.tag; });
    if (o == open_.end()) o = open_.insert(o, {h.tag, {}});
    // The bytes that it has written. A transaction that freed the object wrote nothing of the
    // payload.
    o->cells.push_back({f.header, format::header_size});
    const uint32_t n = pool::covered(s_, f, h);
    if (n != pool::not_covered && n != 0) o->cells.push_back({f.payload, n});
  }
}

// The largest number of unknown cells in any column of the fragment, not counting the fragment.
uint32_t erasure_decoder::depth(const ranges& unknown) const {
  struct span {
    uint64_t zone, row, begin, end;
  };
  std::vector<span> spans;
  for (const data_range& x : unknown)
    for_each_row(s_.geo, x, [&](uint64_t zone, uint64_t row, uint64_t begin, uint64_t end) {
      spans.push_back({zone, row, begin, end});
    });
  uint32_t deepest = 0;
  for (const data_range& x : own_)
    for_each_row(s_.geo, x, [&](uint64_t zone, uint64_t row, uint64_t begin, uint64_t end) {
      const auto at = [&](uint64_t column) {
        std::set<uint64_t> rows;
        for (const span& u : spans)
          if (u.zone == zone && u.row != row && u.begin <= column && column < u.end)
            rows.insert(u.row);
        deepest = std::max(deepest, static_cast<uint32_t>(rows.size()));
      };
      at(begin);
      for (const span& u : spans)
        if (u.begin > begin && u.begin < end) at(u.begin);
    });
  return deepest;
}

bool erasure_decoder::with(const ranges& unknown, const attempt& fn) const {
  if (with_these(unknown, fn)) return true;
  if (s_.geo.parity == 1 || depth(own_) == 0) return false;
  ranges both = unknown;
  both.insert(both.end(), own_.begin(), own_.end());
  return with_these(both, fn);
}

bool erasure_decoder::with_these(const ranges& unknown, const attempt& fn) const {
  const auto needed = static_cast<int>(depth(unknown)) + 1;
  for (pool::parity_set p = 1; p <= pool::all_parities(s_.geo); ++p)
    if (std::popcount(p) == needed && fn({p, unknown})) return true;
  return false;
}

void note_damage(const pool::state& s, const pool::fragment& f, const pool::decoding& how,
                 pool::erasure_hints& hints) {
  if (s.geo.parity < 2) return;
  for (const unit& u : units_of(f)) {
    const pool::cell own = pool::cell_of(s.geo, u.offset);
    const uint64_t block = round_down(own.column, format::page);
    pool::cell_set set;
    set.add(own.row);
    for (const data_range& x : how.unknown)
      for_each_row(s.geo, x, [&](uint64_t zone, uint64_t row, uint64_t begin, uint64_t end) {
        if (zone == own.zone && begin < block + format::page && end > block && !set.has(row) &&
            set.count < s.geo.parity)
          set.add(row);
      });
    hints.add(own.zone, block, set);
  }
}

bool erasure_decoder::any(const attempt& fn) const {
  if (with({}, fn)) return true;
  if (s_.geo.parity == 1) return false;
  if (!damaged_.empty() && with(damaged_, fn)) return true;
  for (const open& o : open_) {
    if (with(o.cells, fn)) return true;
    if (damaged_.empty()) continue;
    ranges both = o.cells;
    both.insert(both.end(), damaged_.begin(), damaged_.end());
    if (with(both, fn)) return true;
  }
  return false;
}

}  // namespace scute::core::repair

// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/logfree/window.hpp"

#include <algorithm>
#include <cstring>

#include "base/rounding.hpp"
#include "codec/parity/galois.hpp"
#include "codec/parity/parity.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"

namespace scute::core::engine {
namespace {

// Another thread may be writing there. The value does not matter, only that the byte can be read.
[[gnu::no_sanitize("thread")]] void touch_byte(const std::byte* at) noexcept {
  static_cast<void>(*static_cast<const volatile std::byte*>(at));
}

// Most windows have a handful of everything. A step of the allocator has more, nearly in order.
template <class T, class Less>
void sort(std::vector<T>& v, Less less) {
  if (std::is_sorted(v.begin(), v.end(), less)) return;
  if (v.size() > 12) return std::sort(v.begin(), v.end(), less);
  for (size_t i = 1; i < v.size(); ++i) {
    const T x = v[i];
    size_t at = i;
    for (; at != 0 && less(x, v[at - 1]); --at) v[at] = v[at - 1];
    v[at] = x;
  }
}

void sort_unique(std::vector<uint32_t>& v) {
  sort(v, [](uint32_t a, uint32_t b) { return a < b; });
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

void sort_columns(std::vector<pool::column_range>& v) {
  sort(v,
       [](const pool::column_range& a, const pool::column_range& b) { return a.begin < b.begin; });
}

// For columns sorted by their beginnings: true if none overlaps the next one.
bool are_apart(const std::vector<pool::column_range>& v) noexcept {
  for (size_t i = 1; i < v.size(); ++i)
    if (v[i].begin < v[i - 1].end) return false;
  return true;
}

// Joins columns, sorted by their beginnings, that overlap. Returns false if more than `most`
// overlap somewhere.
bool merge_columns(pool::window_columns& w, uint32_t most) {
  if (are_apart(w.columns)) return true;
  uint64_t ends[pool::parities_max];  // of the ranges that the next one may overlap
  uint32_t open = 0;
  size_t kept = 0;
  bool fits = true;
  for (const pool::column_range c : w.columns) {
    if (kept == 0 || c.begin >= w.columns[kept - 1].end) {
      w.columns[kept++] = c;
      ends[0] = c.end;
      open = 1;
      continue;
    }
    w.stacked = true;
    pool::column_range& joined = w.columns[kept - 1];
    joined.alone = joined.alone || c.alone;
    joined.end = std::max(joined.end, c.end);
    open = static_cast<uint32_t>(
        std::remove_if(ends, ends + open, [&](uint64_t end) { return end <= c.begin; }) - ends);
    fits = fits && open < most && !joined.alone;
    if (open < most) ends[open++] = c.end;
  }
  w.columns.resize(kept);
  return fits;
}

}  // namespace

// Adds delta, times the factor that the piece's row has in parity p, to the parity that is there.
void add_delta(const pool::state& s, const pool::piece& x, uint32_t p, std::byte* next) noexcept {
  pool::next_parity(s, x.offset, x.parity, x.delta, x.length, p, next);
}

void touch_parity(const pool::state& s, uint64_t parity, uint64_t length) noexcept {
  for (uint32_t p = 0; p < s.geo.parity; ++p) {
    const std::byte* at = s.at(parity + p * s.geo.row_size);
    touch_byte(at);
    touch_byte(at + length - 1);
  }
}

bool overlap(const std::vector<pool::column_range>& a,
             const std::vector<pool::column_range>& b) noexcept {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->begin < j->end && j->begin < i->end) return true;
    if (i->end <= j->end)
      ++i;
    else
      ++j;
  }
  return false;
}

bool window::plan(std::span<const extent> extents) {
  go_to<point::closed, point::planned>(point::planned);
  pool::window_columns& w = l_.now();
  w.clear();
  const auto& g = s_.geo;
  for (const extent& x : extents) {
    uint64_t offset = x.offset, left = x.length;
    while (left != 0) {
      const pool::cell c = pool::cell_of(g, offset);
      const uint64_t n = std::min(left, g.row_size - c.column);
      const uint64_t begin = c.zone * g.row_size + c.column;
      w.columns.push_back({begin, begin + n, x.alone});
      for (uint64_t b = c.column / pool::column_block; b <= (c.column + n - 1) / pool::column_block;
           ++b)
        w.stripes.push_back(pool::stripes::index(c.zone, b));
      offset += n;
      left -= n;
    }
  }
  sort_unique(w.stripes);
  if (w.columns.size() == 1) return true;
  sort_columns(w.columns);
  return merge_columns(w, g.parity);
}

void window::plan_pieces() {
  go_to<point::closed, point::planned>(point::planned);
  pool::window_columns& w = l_.now();
  w.clear();
  const auto& g = s_.geo;
  for (const pool::piece& p : l_.pieces) {
    if (w.stripes.empty() || w.stripes.back() != p.stripe) w.stripes.push_back(p.stripe);
    const pool::cell c = pool::cell_of(g, p.offset);
    const uint64_t begin = c.zone * g.row_size + c.column;
    w.columns.push_back({begin, begin + p.length});
  }
  sort_unique(w.stripes);
  sort_columns(w.columns);
  if (!are_apart(w.columns)) w.columns.clear();
}

namespace {

void flush_last(pool::state& s, pool::lane& l, medium::writer& w,
                pool::in_flight_write::share of = pool::in_flight_write::share::all) noexcept {
  const pool::in_flight_scope here(s, l, pool::in_flight_write::phase::reading, of);
  for (const pool::parity_range& r : l.last().parity) w.write_back(s.at(r.offset), r.length);
}

}  // namespace

void window::finish_last() noexcept {
  SCUTE_ASSERT(l_.deferral.load(std::memory_order_relaxed) == taken);
  flush_last(s_, l_, l_.w);
  l_.w.fence(fence_site::window_own);
  for (const uint32_t stripe : l_.last().stripes) unlock(stripe);
  forget_last();
}

void window::require_columns() noexcept {
  const auto touch = [&](uint64_t offset) { touch_byte(s_.at(offset)); };
  for (uint64_t row = 0; row < s_.geo.parity; ++row)
    for (const pool::piece& p : l_.pieces) touch(p.parity + row * s_.geo.row_size);
  if (!s_.medium->any_revoked()) [[likely]]
    return;
  const auto& g = s_.geo;
  for (const pool::column_range& c : l_.now().columns)
    for (uint64_t at = round_down(c.begin, pool::column_block); at < c.end;
         at += pool::column_block) {
      const uint64_t zone = at / g.row_size, column = at % g.row_size;
      for (uint64_t row = 0; row < g.rows + g.parity; ++row) {
        const uint64_t offset = g.zone_offset(zone) + row * g.row_size + column;
        if (s_.medium->is_revoked(offset)) touch(offset);
      }
    }
}

bool window::enter() noexcept {
  if (!lock()) return false;
  if (l_.deferral.load(std::memory_order_relaxed) == taken) flush_last(s_, l_, l_.w);  // WIN-3
  go_to<point::planned>(point::open);
  return true;
}

bool window::lock() noexcept {
  bool taken_back = l_.deferral.load(std::memory_order_relaxed) == taken;
  if (taken_back && overlap(l_.last().columns, l_.now().columns)) {  // WIN-3
    finish_last();
    taken_back = false;
  }
  const auto& want = l_.now().stripes;
  const auto ours = [&](uint32_t stripe) {
    return (taken_back && l_.last().has(stripe)) || l_.reserved.has(stripe);
  };
  if (taken_back || !l_.reserved.stripes.empty()) {
    size_t got = 0;
    for (; got < want.size(); ++got)
      if (!s_.locks.try_lock_window(want[got], l_.index) && !ours(want[got])) break;
    if (got == want.size()) return true;
    // WIN-4
    l_.w.count.lock_waits.add(1);
    for (size_t i = 0; i < got; ++i)
      if (!ours(want[i])) unlock(want[i]);
    if (taken_back) finish_last();
    if (!l_.reserved.stripes.empty()) return false;
  }
  for (const uint32_t stripe : want)
    if (!s_.locks.lock_window(stripe, l_.index)) l_.w.count.lock_waits.add(1);
  return true;
}

void window::retreat() noexcept {
  go_to<point::open>(point::closed);
  for (const uint32_t stripe : l_.now().stripes)
    if (!l_.last().has(stripe) && !l_.reserved.has(stripe)) unlock(stripe);
  l_.now().clear();
  if (!l_.last().stripes.empty()) finish_last();
}

void window::leave() noexcept {
  go_to<point::open, point::data, point::parity>(point::closed);
  for (const uint32_t stripe : l_.now().stripes) unlock(stripe);
  l_.now().clear();
}

void window::prepare_deltas() {
  const medium::cost_scope as(medium::cost_part::parity);
  const uint64_t shares = 1 + uint64_t{s_.geo.parity};
  size_t total = 0;
  for (const pool::piece& p : l_.pieces) total += p.length;
  l_.deltas.clear();
  std::byte* at = l_.deltas.extend(shares * total);
  for (pool::piece& p : l_.pieces) {
    p.delta = at;
    p.next = at + p.length;
    at += shares * p.length;
  }
  l_.now().parity.reserve(l_.pieces.size() * s_.geo.parity);
}

namespace {

// Two pieces may have columns in common if a window has no plan, or several cells in one column.
// Then the parity of the second piece builds on that of the first.
bool parity_deferred(const pool::state& s, const pool::lane& l) noexcept {
  return s.plain_encoding || (l.now().columns.empty() || l.now().stacked);
}

// CodePM compares its pipeline with this: all encoding first, and then all writing. The new parity
// is computed just before it is written.
void write_data_plain(pool::state& s, pool::lane& l) noexcept {
  l.progress.begin(0);
  for (size_t i = 0; i < l.pieces.size(); ++i) {
    const pool::piece& p = l.pieces[i];
    codec::xor_delta(p.delta, pool::old_bytes(s, p), p.src, p.length);
  }
  for (size_t i = 0; i < l.pieces.size(); ++i) {
    const pool::piece& p = l.pieces[i];
    l.progress.begin(i, p.length);
    if (p.old == nullptr) l.w.stream(s.at(p.offset), p.src, p.length, p.why);
  }
}

}  // namespace

void window::write_data() noexcept {
  go_to<point::open>(point::data);
  for (const pool::piece& p : l_.pieces)
    SCUTE_ASSERT(p.length != 0 && p.offset % pool::column_block + p.length <= pool::column_block &&
                 (l_.now().has(p.stripe) || l_.reserved.has(p.stripe)));
  const medium::cost_scope as(medium::cost_part::data);
  const pool::in_flight_scope here(s_, l_, pool::in_flight_write::phase::data);
  if (s_.plain_encoding) return write_data_plain(s_, l_);
  const bool others = s_.geo.parity > 1 && !parity_deferred(s_, l_);
  for (size_t i = 0; i < l_.pieces.size(); ++i) {
    const pool::piece& p = l_.pieces[i];
    l_.progress.begin(i);
    if (p.old == nullptr) {
      l_.w.encode({s_.at(p.offset), pool::old_bytes(s_, p), p.src, s_.at(p.parity), p.delta, p.next,
                   p.length},
                  p.why, &l_.progress.done);
    } else {
      codec::xor_delta(p.delta, p.old, p.src, p.length);
      codec::xor_delta(p.next, s_.at(p.parity), p.delta, p.length);
    }
    if (others) {
      l_.progress.begin(i, p.length);
      for (uint32_t k = 1; k < s_.geo.parity; ++k)
        add_delta(s_, p, k, p.next + k * uint64_t{p.length});
    }
  }
}

void window::write_parity(write_back when) noexcept {
  go_to<point::data>(point::parity);
  const medium::cost_scope as(medium::cost_part::parity);
  const bool computes = parity_deferred(s_, l_);
  const uint32_t parities = s_.geo.parity;
  const pool::in_flight_scope here(s_, l_, pool::in_flight_write::phase::parity);
  for (size_t i = 0; i < l_.pieces.size(); ++i) {
    const pool::piece& p = l_.pieces[i];
    for (uint32_t k = 0; k < parities; ++k) {
      const uint64_t at = p.parity + k * s_.geo.row_size;
      std::byte* next = p.next + k * uint64_t{p.length};
      l_.progress.begin(i * parities + k);
      if (computes) add_delta(s_, p, k, next);
      if (when == write_back::later)
        l_.w.put(s_.at(at), next, p.length, medium::purpose::parity, &l_.progress.done);
      else
        l_.w.push(s_.at(at), next, p.length, medium::purpose::parity, &l_.progress.done);
      l_.now().parity.push_back({at, p.length});
    }
  }
  l_.progress.begin(l_.pieces.size() * parities);
}

void window::drain() noexcept {
  uint32_t seen = l_.deferral.load(std::memory_order_relaxed);
  do {
    if (seen != deferred && seen != aged) return;
  } while (!l_.deferral.compare_exchange_weak(seen, draining, std::memory_order_acq_rel));
  flush_last(s_, l_, l_.drain_writer, pool::in_flight_write::share::deferred);
  l_.drain_writer.fence(fence_site::drain);
  l_.drain_writer.count.drains.add(1);
  for (const uint32_t stripe : l_.last().stripes) unlock(stripe);
  l_.last().clear();
  l_.deferral.store(none, std::memory_order_release);
}

void window::drain_wholly() noexcept {
  drain();
  // Another thread has taken it, and releases it with its own fence.
  for (unsigned spins = 0;;) {
    const uint32_t seen = l_.deferral.load(std::memory_order_acquire);
    if (seen != draining && seen != taken) return;
    spin_pause(spins);
  }
}

bool window::age() noexcept {
  uint32_t seen = l_.deferral.load(std::memory_order_relaxed);
  if (seen == none) return false;
  if (seen == aged)
    drain();
  else if (seen == deferred)
    l_.deferral.compare_exchange_strong(seen, aged, std::memory_order_relaxed);
  return true;
}

}  // namespace scute::core::engine

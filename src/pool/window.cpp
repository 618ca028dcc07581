// SPDX-License-Identifier: BSD-3-Clause
#include "pool/window.hpp"

#include <algorithm>
#include <cstring>

#include "base/planted.hpp"
#include "codec/galois.hpp"
#include "codec/parity.hpp"
#include "pool/columns.hpp"
#include "pool/hold.hpp"

namespace scute::pool {
namespace {

// taken: the lane has it back, and its parity is durable with the lane's next fence.
enum deferral : uint32_t { none, deferred, aged, draining, taken };

// Somebody may be writing there, and what is read does not matter: that it can be read does.
[[gnu::no_sanitize("thread")]] void touch_byte(const std::byte* at) noexcept {
  static_cast<void>(*static_cast<const volatile std::byte*>(at));
}

bool contains(const std::vector<uint32_t>& sorted, uint32_t stripe) noexcept {
  if (sorted.size() > 12) return std::binary_search(sorted.begin(), sorted.end(), stripe);
  for (const uint32_t x : sorted)
    if (x == stripe) return true;
  return false;
}

// Most windows have a handful of everything; an allocator's step has more, nearly in order.
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

void sort_columns(std::vector<column_range>& v) {
  sort(v, [](const column_range& a, const column_range& b) { return a.begin < b.begin; });
}

// Of columns by their beginnings: none overlaps the next one.
bool are_apart(const std::vector<column_range>& v) noexcept {
  for (size_t i = 1; i < v.size(); ++i)
    if (v[i].begin < v[i - 1].end) return false;
  return true;
}

void unlock(state& s, const lane& l, uint32_t stripe) noexcept {
  s.locks.unlock_window(stripe, l.index);
}

// Columns by their beginnings: joins those that overlap. False if more than `most` do somewhere.
bool merge_columns(window& w, uint32_t most) {
  if (are_apart(w.columns)) return true;
  uint64_t ends[parities_max];  // of the ranges that the next one may overlap
  uint32_t open = 0;
  size_t kept = 0;
  bool fits = true;
  for (const column_range c : w.columns) {
    if (kept == 0 || c.begin >= w.columns[kept - 1].end) {
      w.columns[kept++] = c;
      ends[0] = c.end;
      open = 1;
      continue;
    }
    w.stacked = true;
    column_range& joined = w.columns[kept - 1];
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

// delta times what the row of the piece counts in parity p is added to what there is of it.
void add_delta(const state& s, const piece& x, uint32_t p, std::byte* next) noexcept {
  const std::byte* stored = s.at(x.parity + p * s.geo.row_size);
  if (p == 0) return codec::xor_delta(next, stored, x.delta, x.length);
  std::memcpy(next, stored, x.length);
  codec::galois::multiply_into(next, x.delta, coefficient_of(s.geo, p, x.offset), x.length);
}

}  // namespace

bool overlap(const std::vector<column_range>& a, const std::vector<column_range>& b) noexcept {
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

bool plan(const state& s, lane& l, std::span<const extent> extents) {
  window& w = l.now();
  w.clear();
  const auto& g = s.geo;
  for (const extent& x : extents) {
    uint64_t offset = x.offset, left = x.length;
    while (left != 0) {
      const cell c = cell_of(g, offset);
      const uint64_t n = std::min(left, g.row_size - c.column);
      const uint64_t begin = c.zone * g.row_size + c.column;
      w.columns.push_back({begin, begin + n, x.alone});
      for (uint64_t b = c.column / column_block; b <= (c.column + n - 1) / column_block; ++b)
        w.stripes.push_back(stripes::index(c.zone, b));
      offset += n;
      left -= n;
    }
  }
  sort_unique(w.stripes);
  if (w.columns.size() == 1) return true;
  sort_columns(w.columns);
  return merge_columns(w, g.parity) || SCUTE_PLANTED(window_columns);
}

void plan_pieces(const state& s, lane& l) {
  window& w = l.now();
  w.clear();
  const auto& g = s.geo;
  for (const piece& p : l.pieces) {
    if (w.stripes.empty() || w.stripes.back() != p.stripe) w.stripes.push_back(p.stripe);
    const cell c = cell_of(g, p.offset);
    const uint64_t begin = c.zone * g.row_size + c.column;
    w.columns.push_back({begin, begin + p.length});
  }
  sort_unique(w.stripes);
  sort_columns(w.columns);
  if (!are_apart(w.columns)) w.columns.clear();
}

bool take_back(lane& l) noexcept {
  for (unsigned spins = 0;; spin_pause(spins)) {
    uint32_t seen = l.deferral.load(std::memory_order_acquire);
    if (seen == none || seen == taken) return false;
    if (seen != draining &&
        l.deferral.compare_exchange_strong(seen, taken, std::memory_order_acq_rel))
      return true;
  }
}

namespace {

// Something that each thread has for itself.
const void* this_thread() noexcept {
  return &this_thread_holds;
}

void flush_last(state& s, lane& l, medium::writer& w) noexcept {
  const holding here(s, l, hold::phase::reading);
  for (const parity_range& r : l.last().parity)
    w.flush(s.at(r.offset), r.length, medium::purpose::parity);
}

void forget_last(lane& l) noexcept {
  l.last().clear();
  if (l.deferral.load(std::memory_order_relaxed) == taken)
    l.deferral.store(none, std::memory_order_release);
}

// WIN-3. After take_back(), before the fence.
void adopt_last(state& s, lane& l) noexcept {
  if (l.deferred_by == this_thread() || SCUTE_PLANTED(window_adopted)) [[likely]]
    return;
  flush_last(s, l, l.w);
  l.deferred_by = this_thread();
}

}  // namespace

void settle_last(state& s, lane& l) noexcept {
  adopt_last(s, l);
  if (!SCUTE_PLANTED(window_own_fence)) l.w.fence();
  for (const uint32_t stripe : l.last().stripes) unlock(s, l, stripe);
  forget_last(l);
}

void require_columns(const state& s, const lane& l) noexcept {
  if (SCUTE_PLANTED(window_lost_pages)) return;
  const auto touch = [&](uint64_t offset) { touch_byte(s.at(offset)); };
  for (uint64_t row = 0; row < s.geo.parity; ++row)
    for (const piece& p : l.pieces) touch(p.parity + row * s.geo.row_size);
  if (!s.medium->any_revoked()) [[likely]]
    return;
  const auto& g = s.geo;
  for (const column_range& c : l.now().columns)
    for (uint64_t at = c.begin & ~(column_block - 1); at < c.end; at += column_block) {
      const uint64_t zone = at / g.row_size, column = at % g.row_size;
      for (uint64_t row = 0; row < g.rows + g.parity; ++row) {
        const uint64_t offset = g.zone_offset(zone) + row * g.row_size + column;
        if (s.medium->is_revoked(offset)) touch(offset);
      }
    }
}

bool enter(state& s, lane& l, bool taken_back) noexcept {
  if (taken_back) adopt_last(s, l);
  if (SCUTE_PLANTED(window_unlocked)) return true;
  if (taken_back && overlap(l.last().columns, l.now().columns)) {  // WIN-3
    settle_last(s, l);
    taken_back = false;
  }
  const auto& want = l.now().stripes;
  const auto ours = [&](uint32_t stripe) {
    return (taken_back && contains(l.last().stripes, stripe)) || contains(l.held.stripes, stripe);
  };
  if (taken_back || !l.held.stripes.empty()) {
    size_t got = 0;
    for (; got < want.size(); ++got)
      if (!ours(want[got]) && !s.locks.try_lock_window(want[got], l.index)) break;
    if (got == want.size()) return true;
    // WIN-4
    l.w.count.lock_waits.add(1);
    for (size_t i = 0; i < got; ++i)
      if (!ours(want[i])) unlock(s, l, want[i]);
    if (taken_back) settle_last(s, l);
    if (!l.held.stripes.empty()) return false;
  }
  for (const uint32_t stripe : want)
    if (!s.locks.lock_window(stripe, l.index)) l.w.count.lock_waits.add(1);
  return true;
}

void retreat(state& s, lane& l) noexcept {
  if (!SCUTE_PLANTED(window_unlocked))
    for (const uint32_t stripe : l.now().stripes)
      if (!contains(l.last().stripes, stripe) && !contains(l.held.stripes, stripe))
        unlock(s, l, stripe);
  l.now().clear();
  if (!l.last().stripes.empty()) settle_last(s, l);
}

void release_last(state& s, lane& l) noexcept {
  for (const uint32_t stripe : l.last().stripes)
    if (!contains(l.now().stripes, stripe)) unlock(s, l, stripe);
  forget_last(l);
}

void leave(state& s, lane& l) noexcept {
  if (!SCUTE_PLANTED(window_unlocked))
    for (const uint32_t stripe : l.now().stripes) unlock(s, l, stripe);
  l.now().clear();
}

void defer(lane& l) noexcept {
  l.turn ^= 1;
  l.deferred_by = this_thread();
  l.deferral.store(deferred, std::memory_order_release);
}

void prepare_deltas(const state& s, lane& l) {
  const medium::stage_scope as(medium::stage::parity);
  const uint64_t shares = 1 + uint64_t{s.geo.parity};
  size_t total = 0;
  for (const piece& p : l.pieces) total += p.length;
  l.deltas.clear();
  std::byte* at = l.deltas.extend(shares * total);
  for (piece& p : l.pieces) {
    p.delta = at;
    p.next = at + p.length;
    if (SCUTE_PLANTED(window_delta_shared)) continue;
    // What goes on in the next block.
    if (SCUTE_PLANTED(window_delta_block) && &p != &l.pieces.back() &&
        (&p)[1].offset == p.offset + p.length)
      continue;
    at += shares * p.length;
  }
  l.now().parity.reserve(l.pieces.size() * s.geo.parity);
}

namespace {

// Two pieces of a window without a plan, or with several cells of one column, may have columns in common:
// then the parity of the second one builds on that of the first.
bool late(const state& s, const lane& l) noexcept {
  return s.plain_encoding ||
         ((l.now().columns.empty() || l.now().stacked) && !SCUTE_PLANTED(window_parity_twice));
}

// What CodePM compares its pipeline with: all encoding first, and then all writing; the new parity is
// computed when its turn has come.
void write_data_plain(state& s, lane& l) noexcept {
  l.progress.begin(0);
  for (size_t i = 0; i < l.pieces.size(); ++i) {
    const piece& p = l.pieces[i];
    codec::xor_delta(p.delta, p.old != nullptr ? p.old : s.at(p.offset), p.src, p.length);
  }
  for (size_t i = 0; i < l.pieces.size(); ++i) {
    const piece& p = l.pieces[i];
    l.progress.begin(i, p.length);
    if (p.old == nullptr) l.w.stream(s.at(p.offset), p.src, p.length, p.why);
  }
}

}  // namespace

void write_data(state& s, lane& l) noexcept {
  const medium::stage_scope as(medium::stage::data);
  const holding here(s, l, hold::phase::data);
  if (s.plain_encoding) return write_data_plain(s, l);
  const bool others = s.geo.parity > 1 && !late(s, l);
  for (size_t i = 0; i < l.pieces.size(); ++i) {
    const piece& p = l.pieces[i];
    l.progress.begin(i);
    if (p.old == nullptr) {
      l.w.encode({s.at(p.offset), p.src, s.at(p.parity), p.delta, p.next, p.length}, p.why,
                 &l.progress.done);
    } else {
      codec::xor_delta(p.delta, p.old, p.src, p.length);
      codec::xor_delta(p.next, s.at(p.parity), p.delta, p.length);
    }
    if (others) {
      l.progress.begin(i, p.length);
      for (uint32_t k = 1; k < s.geo.parity; ++k)
        add_delta(s, p, k, p.next + k * uint64_t{p.length});
    }
  }
}

void write_parity(state& s, lane& l) noexcept {
  const medium::stage_scope as(medium::stage::parity);
  const bool computes = late(s, l);
  const uint32_t parities = s.geo.parity;
  const holding here(s, l, hold::phase::parity);
  for (size_t i = 0; i < l.pieces.size(); ++i) {
    const piece& p = l.pieces[i];
    for (uint32_t k = 0; k < parities; ++k) {
      const uint64_t at = p.parity + k * s.geo.row_size;
      std::byte* next = p.next + k * uint64_t{p.length};
      l.progress.begin(i * parities + k);
      if (computes) add_delta(s, p, k, next);
      if (SCUTE_PLANTED(window_parity_line) && i != 0 &&
          p.parity / 64 == (l.pieces[i - 1].parity + l.pieces[i - 1].length - 1) / 64)
        codec::xor_delta(next, next, p.delta, p.length);
      if (SCUTE_PLANTED(window_several) && k != 0) continue;
      if (!SCUTE_PLANTED(window_parity))
        l.w.push(s.at(at), next, p.length, medium::purpose::parity, &l.progress.done);
      l.now().parity.push_back({at, p.length});
    }
  }
  l.progress.begin(l.pieces.size() * parities);
}

void drain(state& s, lane& l) noexcept {
  uint32_t seen = l.deferral.load(std::memory_order_relaxed);
  do {
    if (seen != deferred && seen != aged) return;
  } while (!l.deferral.compare_exchange_weak(seen, draining, std::memory_order_acq_rel));
  if (!SCUTE_PLANTED(drain_flush)) flush_last(s, l, l.relief);
  if (!SCUTE_PLANTED(drain_fence)) l.relief.fence();
  l.relief.count.drains.add(1);
  for (const uint32_t stripe : l.last().stripes) unlock(s, l, stripe);
  l.last().clear();
  l.deferral.store(none, std::memory_order_release);
}

void drain_wholly(state& s, lane& l) noexcept {
  drain(s, l);
  // Another thread has it, and lets go of it with its own fence.
  for (unsigned spins = 0;;) {
    const uint32_t seen = l.deferral.load(std::memory_order_acquire);
    if (seen != draining && seen != taken) return;
    spin_pause(spins);
  }
}

bool age(state& s, lane& l) noexcept {
  uint32_t seen = l.deferral.load(std::memory_order_relaxed);
  if (seen == none) return false;
  if (seen == aged)
    drain(s, l);
  else if (seen == deferred)
    l.deferral.compare_exchange_strong(seen, aged, std::memory_order_relaxed);
  return true;
}

bool in_window(const lane& l, uint32_t stripe) noexcept {
  return contains(l.now().stripes, stripe) || contains(l.last().stripes, stripe) ||
         contains(l.held.stripes, stripe);
}

}  // namespace scute::pool

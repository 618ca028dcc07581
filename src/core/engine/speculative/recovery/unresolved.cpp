// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/recovery/unresolved.hpp"

#include <algorithm>
#include <utility>

#include "core/engine/speculative/log_file/pages.hpp"
#include "core/shared/parity/in_flight_write.hpp"

namespace scute::core::engine {

unresolved_columns::unresolved_columns(pool::state& s, block_table& t,
                                       const recovered_ranges& found)
    : s_(s), table_(t), place_(t.count(), none), w_(*s.medium) {
  const auto each = [&](auto&& fn) {
    for (size_t i = 0; i < found.ranges.size(); ++i)
      for_each_page(found.ranges[i].offset, found.ranges[i].length,
                    [&](uint64_t at, uint64_t n) { fn(t.number_of(at), at, n, i); });
  };
  uint64_t parts = 0;
  each([&](uint64_t b, uint64_t, uint64_t, size_t i) {
    const uint64_t lsn = found.lsns[i];
    if (place_[b] == none) {
      blocks_.push_back({b, lsn, 0});
      place_[b] = static_cast<uint32_t>(blocks_.size());
    }
    ++blocks_[place_[b] - 1].end;
    ++parts;
    t.know_lsn(b, lsn);
  });
  for (uint64_t before = 0; block & x : blocks_) {
    x.begin = before;
    before += std::exchange(x.end, before);
  }
  parts_.resize(parts);
  each([&](uint64_t b, uint64_t at, uint64_t n, size_t) {
    parts_[blocks_[place_[b] - 1].end++] = {at, static_cast<uint32_t>(n)};
  });
  open_.reset(new std::atomic<bool>[blocks_.size()]);
  for (size_t i = 0; i < blocks_.size(); ++i) open_[i].store(true, std::memory_order_relaxed);
  pending_.store(!blocks_.empty(), std::memory_order_release);
}

// ---- resolving ----------------------------------------------------------------------------------

// Under the stripe, which the caller holds and has announced
// (core/shared/parity/in_flight_write.hpp).
void unresolved_columns::resolve_held(size_t i) noexcept {
  const block& x = blocks_[i];
  const pool::cell c = pool::cell_of(s_.geo, parts_[x.begin].offset);
  const uint64_t column = c.column / block_table::page * block_table::page;
  pool::resolver::page_bytes torn;
  for (uint64_t k = x.begin; k < x.end; ++k) {
    const uint64_t in = parts_[k].offset % block_table::page;
    torn.set(in, in + parts_[k].length);
  }
  const std::pair<uint64_t, uint64_t> all = torn.bounds();
  const uint64_t from = all.first;
  pool::gather_room room;
  pool::gather(s_, c.zone, column + from, all.second - from,
               pool::recipe_of_all(s_.geo, pool::sums::parities), room);
  torn.for_each_run([&](uint64_t begin, uint64_t end) {
    for (uint32_t p = 0; p < s_.geo.parity; ++p) {
      const uint64_t at = pool::parity_offset(s_.geo, c.zone, column + begin, p);
      w_.store(s_.at(at), room.sum[p] + (begin - from), end - begin);
      table_.stored_parity(x.number, at, end - begin);
    }
  });
  // Listed before it counts as resolved: a thread that looks for unresolved blocks looks here
  // first, and then at the list.
  table_.recorded(x.number, x.first);
  open_[i].store(false, std::memory_order_release);
  done_.fetch_add(1, std::memory_order_acq_rel);
}

void unresolved_columns::resolve(size_t i) noexcept {
  if (!is_open(i)) return;
  const uint32_t stripe = table_.stripe_of(blocks_[i].number);
  s_.locks.lock_exclusive(stripe);
  {
    const pool::in_flight_scope here(s_, stripe, pool::in_flight_write::mode::exclusive);
    if (is_open(i)) resolve_held(i);
  }
  s_.locks.unlock_exclusive(stripe);
}

void unresolved_columns::before_write(uint64_t offset, uint64_t length) {
  if (!pending()) return;
  for_each_page(offset, length, [&](uint64_t at, uint64_t) {
    if (const uint32_t place = place_[table_.number_of(at)]; place != none) resolve(place - 1);
  });
}

void unresolved_columns::before_trust(uint64_t zone, uint64_t column) noexcept {
  const uint32_t place = place_[table_.number_in(zone, column)];
  if (place != none && is_open(place - 1)) resolve_held(place - 1);
}

bool unresolved_columns::scan(uint64_t blocks) {
  const uint64_t from = next_.fetch_add(blocks, std::memory_order_relaxed);
  for (uint64_t i = from; i < std::min<uint64_t>(from + blocks, blocks_.size()); ++i) resolve(i);
  return from + blocks < blocks_.size();
}

void unresolved_columns::resolve_oldest(uint64_t blocks) noexcept {
  for (size_t i = oldest_; i < blocks_.size() && blocks != 0; ++i) {
    if (!is_open(i)) continue;
    resolve(i);
    --blocks;
  }
  lowest();
}

uint64_t unresolved_columns::lowest() noexcept {
  while (oldest_ < blocks_.size() && !is_open(oldest_)) ++oldest_;
  return oldest_ == blocks_.size() ? UINT64_MAX : blocks_[oldest_].first;
}

// ---- lost pages ---------------------------------------------------------------------------------

// Async-signal-safe. The block's stripe is held by the caller, or by the thread that the fault
// struck.
bool unresolved_columns::undecodable(uint64_t page, page_bytes& own,
                                     page_bytes& others) const noexcept {
  const pool::cell c = pool::cell_of(s_.geo, page);
  if (!pending() || c.row >= s_.geo.rows) return false;
  const uint32_t place = place_[table_.number_of(page)];
  if (place == none || !is_open(place - 1)) return false;
  const block& x = blocks_[place - 1];
  for (uint64_t k = x.begin; k < x.end; ++k) {
    const uint64_t in = parts_[k].offset % block_table::page;
    (parts_[k].offset - in == page ? own : others).set(in, in + parts_[k].length);
  }
  return true;
}

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/block_table.hpp"

#include <algorithm>

namespace scute::core::engine {

block_table::block_table(const pool::state& s)
    : s_(s),
      per_zone_(s.geo.row_size / page),
      count_(s.has_parity ? per_zone_ * s.geo.zone_count : s.geo.file_size / page),
      words_(s.has_parity ? (uint64_t{s.geo.rows} + s.geo.parity + 63) / 64 : 1),
      pages_(s.geo.file_size / page) {
  blocks_ = lazy_allocator<block>().allocate(count_);
  rows_ = lazy_allocator<uint64_t>().allocate(count_ * words_);
  bits_ = lazy_allocator<page_bits>().allocate(pages_);
  list_ = new_list();
}

block_table::~block_table() {
  lazy_allocator<block>().deallocate(blocks_, count_);
  lazy_allocator<uint64_t>().deallocate(rows_, count_ * words_);
  lazy_allocator<page_bits>().deallocate(bits_, pages_);
}

void block_table::dirty(uint64_t b, uint64_t row, uint64_t offset, uint64_t n) noexcept {
  const uint64_t in = offset % page;
  bits_[offset / page].dirty |= mask(in / line, (in + n + line - 1) / line);
  note_row(b, row);
}

void block_table::stored(uint64_t b, uint64_t offset, uint64_t n, bytes_are where) noexcept {
  dirty(b, s_.has_parity ? pool::cell_of(s_.geo, offset).row : 0, offset, n);
  if (where != bytes_are::in_record) return;
  page_bits& p = bits_[offset / page];
  const uint64_t in = offset % page;
  for_each_word((in + granule_size - 1) / granule_size, (in + n) / granule_size,
                [&](uint64_t w, uint64_t granules) { p.images[w] |= granules; });
}

void block_table::placed(uint64_t offset, uint64_t n) noexcept {
  page_bits& p = bits_[offset / page];
  const uint64_t in = offset % page;
  for_each_word(in / granule_size, (in + n + granule_size - 1) / granule_size,
                [&](uint64_t w, uint64_t granules) { p.images[w] &= ~granules; });
}

void block_table::stored_parity(uint64_t b, uint64_t offset, uint64_t n) noexcept {
  const uint64_t zone = pool::zone_of(s_.geo, offset);
  dirty(b, (offset - s_.geo.zone_offset(zone)) / s_.geo.row_size, offset, n);
}

void block_table::recorded(uint64_t b, uint64_t lsn) noexcept {
  block& x = blocks_[b];
  x.renewed = false;
  if (x.newest_lsn.load(std::memory_order_relaxed) < lsn)
    x.newest_lsn.store(lsn, std::memory_order_release);
  const uint64_t first = x.first.load(std::memory_order_relaxed);
  // (0: stored without a record.)
  if (lsn != 0 && (first == 0 || lsn < first)) x.first.store(lsn, std::memory_order_relaxed);
  if (x.listed) return;
  x.listed = true;
  const locked turn(lock_);
  list_.push_back(b);
}

bool block_table::imaged(uint64_t offset, uint64_t n) const noexcept {
  for (uint64_t at = offset / granule_size; at <= (offset + n - 1) / granule_size; ++at) {
    const page_bits& p = bits_[at * granule_size / page];
    const uint64_t g = at % (page / granule_size);
    if ((p.images[g / 64] >> g % 64 & 1) == 0) return false;
  }
  return true;
}

block_table::list block_table::new_list() const {
  list empty;
  empty.reserve(count_);
  return empty;
}

void block_table::take_list(list& into, size_t n) noexcept {
  const locked turn(lock_);
  if (n >= list_.size()) return into.swap(list_);
  const auto end = list_.begin() + static_cast<ptrdiff_t>(n);
  into.assign(list_.begin(), end);
  list_.erase(list_.begin(), end);
}

void block_table::put_back(uint64_t b) noexcept {
  const locked turn(lock_);
  list_.push_back(b);
}

uint64_t block_table::lowest() const noexcept {
  uint64_t least = UINT64_MAX;
  const locked turn(lock_);
  for (const uint64_t b : list_) {
    const uint64_t first = blocks_[b].first.load(std::memory_order_relaxed);
    if (first != 0) least = std::min(least, first);
  }
  return least;
}

uint64_t block_table::highest() const noexcept {
  uint64_t most = 0;
  const locked turn(lock_);
  for (const uint64_t b : list_)
    most = std::max(most, blocks_[b].newest_lsn.load(std::memory_order_relaxed));
  return most;
}

size_t block_table::listed() const noexcept {
  const locked turn(lock_);
  return list_.size();
}

bool block_table::is_clean() const noexcept {
  const locked turn(lock_);
  return list_.empty();
}

}  // namespace scute::core::engine

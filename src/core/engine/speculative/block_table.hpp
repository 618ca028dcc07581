// SPDX-License-Identifier: BSD-3-Clause
// For every column block, engine `spec` keeps here: which lines of it, data and parity, are newer
// than on the medium; which of its bytes the log could restore; and how far it was checkpointed.
//
//   dirty   a line: stored by cached stores, and not written back since
//   imaged  a granule of 32 bytes of the data: the log would restore its last committed bytes
//           (TABLE-3)
//   newest_lsn   the highest LSN of a record of the block
//   first   the lowest LSN of a record of the block that is not checkpointed; 0: there is none
//   pinned  no thread checkpoints the block meanwhile (SPEC-6)
//
// TABLE-1 A block, except its pins, changes only under its stripe, held exclusively. An LSN may be
//    read without it, and never falls.
// TABLE-2 A block with a dirty line or a record is on the list. A thread that takes the list
//    checkpoints its blocks, or returns them to it.
// TABLE-3 A durable record with all bytes of a granule makes it imaged. Two things make the records
//    of a granule void and end that: the block's checkpoint, and a placed record of any byte of it,
//    after which no record has that byte (SPEC-4).
// TABLE-4 Arrays with an element for each block of the pool take memory only where they are
//    touched, and count only then. A sparse pool may be thousands of times as large as the
//    machine's memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/lazy_memory.hpp"
#include "base/locks/lock.hpp"
#include "base/locks/spin_lock.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/state.hpp"

namespace scute::core::engine {

inline constexpr uint64_t granule_size = 32;

class block_table {
 public:
  static constexpr uint64_t line = 64, page = pool::column_block;

  explicit block_table(const pool::state& s);
  ~block_table();
  block_table(const block_table&) = delete;
  block_table& operator=(const block_table&) = delete;

  struct block {
    std::atomic<uint64_t> newest_lsn;
    std::atomic<uint64_t> first;
    std::atomic<uint32_t> pins;
    bool listed;
    bool renewed;  // its only record is the checkpoint's, of ranges open in place
  };

  // The block of a byte of the data rows. Blocks are the column blocks of the zones, one after the
  // other; in a pool without parity, the pages of the file.
  uint64_t number_of(uint64_t offset) const noexcept {
    if (!s_.has_parity) return offset / page;
    const pool::cell c = pool::cell_of(s_.geo, offset);
    return number_in(c.zone, c.column);
  }
  uint64_t number_in(uint64_t zone, uint64_t column) const noexcept {
    return zone * per_zone_ + column / page;
  }
  uint64_t count() const noexcept { return count_; }
  block& at(uint64_t number) noexcept { return blocks_[number]; }
  uint32_t stripe_of(uint64_t number) const noexcept {
    return s_.has_parity ? pool::stripes::index(number / per_zone_, number % per_zone_)
                         : pool::stripe_of(s_, number * page);
  }

  // Notes that bytes in one page of the data rows, in block `b`, were stored. where: whether the
  // record of their LSN has these bytes. Under the stripe, which is held.
  enum class bytes_are : uint8_t { in_record, elsewhere };
  void stored(uint64_t b, uint64_t offset, uint64_t n, bytes_are where) noexcept;
  // The same for the parity of such bytes.
  void stored_parity(uint64_t b, uint64_t offset, uint64_t n) noexcept;
  // Notes that a placed record of bytes in one page of the data rows is durable (TABLE-3). Under
  // the stripe.
  void placed(uint64_t offset, uint64_t n) noexcept;
  // Notes a record of the block, which puts it on the list for a checkpoint. Under the stripe.
  void recorded(uint64_t b, uint64_t lsn) noexcept;
  // Notes the LSN of a record that recovery has found, without listing the block. Alone in the
  // pool.
  void know_lsn(uint64_t b, uint64_t lsn) noexcept {
    std::atomic<uint64_t>& newest_lsn = blocks_[b].newest_lsn;
    if (newest_lsn.load(std::memory_order_relaxed) < lsn)
      newest_lsn.store(lsn, std::memory_order_relaxed);
  }
  // Prefetches what stored(), stored_parity() and recorded() need of a block, or of a page of it.
  void prefetch_block(uint64_t b) const noexcept { __builtin_prefetch(&rows_[b * words_], 1); }
  void prefetch_page(uint64_t offset) const noexcept {
    __builtin_prefetch(&bits_[offset / page], 1);
  }
  // Whether all granules that the bytes touch are imaged.
  bool imaged(uint64_t offset, uint64_t n) const noexcept;

  // Calls fn(offset, length) for all runs of dirty lines, which are clean afterwards, and clears
  // the images. Under the stripe.
  template <typename Fn>
  void clean(uint64_t b, Fn&& fn) noexcept;
  // Calls fn(page) for the offset of each page of the data rows with a dirty line.
  template <typename Fn>
  void for_each_dirty_page(uint64_t b, Fn&& fn) const;

  // A list that never allocates later. It has room for all blocks; most of that room is never
  // touched (TABLE-4).
  using list = std::vector<uint64_t, lazy_allocator<uint64_t>>;
  list new_list() const;
  // Takes up to n blocks of the list, in the order in which they came to it: that of their oldest
  // records, except for blocks that were returned. into: empty, made by new_list().
  void take_list(list& into, size_t n) noexcept;
  size_t listed() const noexcept;
  void put_back(uint64_t b) noexcept;
  // The lowest LSN that is not checkpointed, among all blocks on the list. UINT64_MAX: none.
  uint64_t lowest() const noexcept;
  // The highest LSN among all blocks on the list. 0: none.
  uint64_t highest() const noexcept;
  bool is_clean() const noexcept;

 private:
  struct page_bits {
    uint64_t dirty;      // lines
    uint64_t images[2];  // granules
  };
  static uint64_t mask(uint64_t begin, uint64_t end) noexcept {
    return (end >= 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1) & ~uint64_t{0} << begin;
  }
  void note_row(uint64_t b, uint64_t row) noexcept {
    rows_[b * words_ + row / 64] |= uint64_t{1} << row % 64;
  }
  void dirty(uint64_t b, uint64_t row, uint64_t offset, uint64_t n) noexcept;
  // Calls fn(word, mask) for the granules [begin, end) of a page.
  template <typename Fn>
  static void for_each_word(uint64_t begin, uint64_t end, Fn&& fn) noexcept {
    for (uint64_t w = 0; w < 2; ++w) {
      const uint64_t from = std::clamp<uint64_t>(begin, w * 64, w * 64 + 64);
      const uint64_t to = std::clamp<uint64_t>(end, w * 64, w * 64 + 64);
      if (from < to) fn(w, mask(from - w * 64, to - w * 64));
    }
  }
  // The page in row `row` of a block; parity rows follow the data rows.
  uint64_t page_at(uint64_t b, uint64_t row) const noexcept {
    if (!s_.has_parity) return b * page;
    return s_.geo.zone_offset(b / per_zone_) + row * s_.geo.row_size + b % per_zone_ * page;
  }

  const pool::state& s_;
  uint64_t per_zone_, count_, words_;  // blocks in a zone; in all; words of `rows_` for a block
  uint64_t pages_;
  // Zero until touched: most pages of most pools are never written in one session.
  block* blocks_ = nullptr;
  uint64_t* rows_ = nullptr;
  page_bits* bits_ = nullptr;
  mutable spin_lock lock_;
  list list_ SCUTE_GUARDED_BY(lock_);
};

template <typename Fn>
void block_table::clean(uint64_t b, Fn&& fn) noexcept {
  for (uint64_t w = 0; w < words_; ++w) {
    for (uint64_t rows = rows_[b * words_ + w]; rows != 0; rows &= rows - 1) {
      const uint64_t at = page_at(b, w * 64 + static_cast<uint64_t>(std::countr_zero(rows)));
      page_bits& p = bits_[at / page];
      for (uint64_t left = p.dirty; left != 0;) {
        const auto begin = static_cast<uint64_t>(std::countr_zero(left));
        const auto n = static_cast<uint64_t>(std::countr_one(left >> begin));
        fn(at + begin * line, n * line);
        left &= ~mask(begin, begin + n);
      }
      p = {};
    }
    rows_[b * words_ + w] = 0;
  }
}

template <typename Fn>
void block_table::for_each_dirty_page(uint64_t b, Fn&& fn) const {
  const uint64_t data_rows = s_.has_parity ? s_.geo.rows : 1;
  for (uint64_t row = 0; row < data_rows; ++row)
    if ((rows_[b * words_ + row / 64] >> row % 64 & 1) != 0) fn(page_at(b, row));
}

}  // namespace scute::core::engine

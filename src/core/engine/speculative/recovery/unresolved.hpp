// SPDX-License-Identifier: BSD-3-Clause
// Columns whose parity recovery has left as the crash left it: old, new or torn. Their data is
// whole and durable by then. Only the parity has to be recomputed from all rows, which takes longer
// than everything else. The pool is open meanwhile.
//
// UNRES-1 A column with a record above the truncation point is unresolved from recovery on, until
//    its parity was recomputed under the stripe of its block. Recovery's stores are durable before.
// UNRES-2 No thread decodes a cell, or assesses damage, by the parity of an unresolved column: a
//    thread that takes a block's stripe for that resolves it first. The handler of a fault cannot,
//    since a row is missing; it learns nothing from such columns
//    (core/repair/page_repair.hpp, PAGE-9). A commit need not resolve (below).
// UNRES-3 The truncation point stays below the records of an unresolved block. A resolved one is a
//    dirty block of the table, with the oldest of these records as its first, until it is
//    checkpointed. So the next recovery always finds the records of all blocks whose parity is not
//    durable, and the records that this session has committed above them.
// UNRES-4 The LSNs that this session draws are above all LSNs that recovery has found, those of
//    undecided transactions included.
// UNRES-5 The block with the oldest record comes first, so that segments become free one after the
//    other. A checkpoint resolves some blocks each time, so a thread that waits for room does not
//    depend on another thread.
//
// On UNRES-2: a commit adds its change to the present parity, and recomputing the parity gives the
// same before and after.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/speculative/block_table.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::engine {

// Records that recovery has found, in ascending order of their LSNs.
struct recovered_ranges {
  std::vector<pool::data_range> ranges;
  std::vector<uint64_t> lsns;  // of each

  void add(uint64_t offset, uint64_t length, uint64_t lsn) {
    ranges.push_back({offset, length});
    lsns.push_back(lsn);
  }
};

class unresolved_columns final : public pool::resolver {
 public:
  // found: ranges in blocks of a pool with parity. The table gets their LSNs. Alone in the pool.
  unresolved_columns(pool::state& s, block_table& t, const recovered_ranges& found);

  // ---- pool::resolver: any thread that holds no stripe ------------------------------------------

  void before_write(uint64_t offset, uint64_t length) override;
  void before_change(const pool::fragment&) override {}  // nothing of a transaction is left open
  void before_read(const pool::fragment&) override {}
  void before_overwrite(uint64_t, uint64_t) override {}
  void before_reuse(uint64_t, uint64_t) override {
  }  // speculative::prepare_reuse() waits for the truncation point
  bool scan(uint64_t blocks) override;
  void finish() noexcept override { pending_.store(false, std::memory_order_release); }
  progress done() const noexcept override {
    return {blocks_.size(), done_.load(std::memory_order_acquire)};
  }
  outcome traces() const noexcept override { return {}; }
  void before_trust(uint64_t zone, uint64_t column) noexcept override;
  bool undecodable(uint64_t page, page_bytes& own, page_bytes& others) const noexcept override;

  // ---- for checkpoints, by one thread at a time -------------------------------------------------

  // Resolves up to so many of the oldest blocks. Afterwards they are dirty, and on the table's
  // list.
  void resolve_oldest(uint64_t blocks) noexcept;
  // The lowest LSN of a record of a block that is not resolved. UINT64_MAX: there is none.
  uint64_t lowest() noexcept;

 private:
  struct part {
    uint64_t offset;
    uint32_t length;
  };
  struct block {
    uint64_t number, first;   // of the table; LSN of the oldest record
    uint64_t begin, end = 0;  // in parts_
  };
  bool is_open(size_t i) const noexcept { return open_[i].load(std::memory_order_acquire); }
  void resolve(size_t i) noexcept;
  void resolve_held(size_t i) noexcept;

  static constexpr uint32_t none = 0;

  pool::state& s_;
  block_table& table_;
  std::vector<part> parts_;      // by block; never changed: a fault handler may read them
  std::vector<block> blocks_;    // oldest first
  std::vector<uint32_t> place_;  // by number: 1 + where in blocks_, or none
  std::unique_ptr<std::atomic<bool>[]> open_;
  std::atomic<uint64_t> done_{0}, next_{0};
  medium::writer w_;   // for stores, which leave nothing in it
  size_t oldest_ = 0;  // of the thread that checkpoints: those before it are resolved
};

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
// How a transaction ends.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/locks/waiting.hpp"
#include "core/shared/optimistic.hpp"
#include "core/tx/conflict.hpp"
#include "core/tx/transaction.hpp"
#include "core/tx/verify.hpp"

namespace scute::core::tx {
namespace {

// New objects from this size on are prewritten: their payload goes straight to its place with its
// parity, and not through the log.
constexpr uint64_t prewrite_min = uint64_t{16} << 10;
// One prewriting step; bounds the columns that a crash leaves for recovery to recompute.
constexpr uint64_t prewrite_step = uint64_t{256} << 10;
// The same if each fence is a sync.
constexpr uint64_t prewrite_step_dear = uint64_t{4} << 20;

}  // namespace

void transaction::check_canaries() {
  if (small_count_ == count_) {
    static_assert(canary_size == format::header_size);
    const canary_pattern& should = the_pattern();
    uint64_t bad = 0;
    for (size_t i = 0; i < count_; ++i) {
      const small_member& m = smalls_[i];
      if (m.what == small_member::change::freed) continue;
      bad |= canary_difference(should, m.image);
      bad |= canary_difference(should, m.image + format::header_size + m.size);
    }
    if (bad == 0) return;
  }
  for (size_t i = 0; i < count_; ++i) {
    const micro_buffer& b = *buffers_[i];
    if (b.bytes == nullptr || b.freed) continue;
    if (arena::intact(b.bytes, b.size, b.front())) continue;
    throw failure(SCUTE_E_CANARY,
                  "a write ran past the micro-buffer of the object at oid offset " +
                      std::to_string(b.where.payload) + " (" + std::to_string(b.size) +
                      " bytes, type " + std::to_string(b.type) +
                      "); the transaction was aborted and the pool is untouched. Build with "
                      "-fsanitize=address to find the write");
  }
}

bool transaction::prewrites_any() {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count_; ++i) {
    const micro_buffer& b = *buffers_[i];
    if (b.fresh && !b.freed && b.size >= prewrite_min) bytes += b.size;
  }
  return bytes != 0 && !engine_->logs_payload(lane_, bytes);
}

void transaction::prewrite_large() {
  const uint64_t step = engine_->takes_steps_along() ? prewrite_step_dear : prewrite_step;
  heap_.make_pending(lane_);  // PEND-4
  for (size_t i = 0; i < count_; ++i) {
    micro_buffer& b = *buffers_[i];
    if (!b.fresh || b.freed || b.size < prewrite_min) continue;
    s_.being_prewritten.add(lane_.index, b.where.header, b.front() + b.where.room);
    sealer_.begin();
    sealer_.seal_payload(b);
    std::vector<pool::patch> batch;
    uint64_t bytes = 0;
    const auto flush = [&] {
      engine_->prewrite(lane_, batch);
      batch.clear();
      bytes = 0;
    };
    for (const pool::patch& p : sealer_.patches()) {
      for (uint64_t at = 0; at < p.length; at += step) {
        const auto n = static_cast<uint32_t>(std::min<uint64_t>(step, p.length - at));
        if (bytes + n > step || batch.size() == 64) flush();
        batch.push_back({p.offset + at, static_cast<const std::byte*>(p.src) + at, n, p.why});
        bytes += n;
      }
    }
    flush();
  }
}

// PEND-5
void transaction::make_excess() {
  if (!heap_.zones().any_pending()) return;
  uint64_t fresh = 0;
  for (size_t i = 0; i < count_; ++i) fresh += buffers_[i]->fresh && !buffers_[i]->freed ? 1 : 0;
  if (fresh != 0) heap_.make_excess(lane_, fresh);
}

void transaction::find_fresh() {
  fresh_.clear();
  for (size_t i = 0; i < count_; ++i)
    if (buffers_[i]->fresh && !buffers_[i]->freed) fresh_.push_back(buffers_[i]->where.header);
  std::ranges::sort(fresh_);
}

void transaction::release_freed(bool spans) noexcept {
  for (size_t i = 0; i < count_; ++i)
    if (buffers_[i]->freed && buffers_[i]->span == spans) heap_.release(buffers_[i]->where);
}

void transaction::give_back() noexcept {
  if (!std::exchange(gave_back_, true)) release_freed(false);
}

// CONFLICT-1: no other thread changes these objects until the changes are durable.
void transaction::lock_changes(object_lock_guard& mine) {
  const auto changes = [this](const micro_buffer& b) {
    return !b.fresh && needs_object_lock(b) && (b.freed || !b.open.empty() || !b.in_place.empty());
  };
  bool any = false;
  for (size_t i = 0; i < count_; ++i)
    if (changes(*buffers_[i])) {
      any = buffers_[i]->object_locked = true;
      mine.add(buffers_[i]->where.payload);
    }
  if (!any) return;
  mine.take();
  for (size_t i = 0; i < count_; ++i) {
    const micro_buffer& b = *buffers_[i];
    if (!changes(b)) continue;
    require_same(b);
    if (b.freed) require_closed(s_, lane_, b.where.header, b.where.payload, b.where.room);
    if (b.expected != nullptr && !s_.has_checksums) {
      const pool::optimistic_reads mark;
      if (std::memcmp(s_.at(b.where.payload), b.expected, b.size) != 0)
        refuse_change(s_, b.where.header);
    }
  }
}

void transaction::commit() {
  const medium::cost_scope as(medium::cost_part::end);
  // PREWRITE-1
  struct end_of_prewrite {
    pool::state& s;
    const pool::lane& l;
    bool any = false;
    ~end_of_prewrite() {
      if (any) s.being_prewritten.end(l.index);
    }
  } prewrite{s_, lane_};
  try {
    const medium::cost_scope sealing(medium::cost_part::seal);
    if (doomed)
      throw failure(
          SCUTE_E_ABORTED,
          "an inner level of the transaction was aborted, which aborts the whole transaction");
    check_canaries();
    if (commit_short()) return end();
    prewrite.any = prewrites_any();
    if (prewrite.any) {
      prewrite_large();
      switch_point();  // prewritten bytes have no header yet
    }
    make_excess();
    object_lock_guard mine(s_, lane_);
    lock_changes(mine);
    sealer_.begin();
    uint64_t allocs = 0, frees = 0;
    for (size_t i = 0; i < count_; ++i) {
      micro_buffer& b = *buffers_[i];
      if (b.fresh && b.freed) continue;
      if (b.freed) {
        sealer_.seal_freed(b);
        ++frees;
      } else if (b.fresh) {
        (prewrite.any && b.size >= prewrite_min) ? sealer_.seal_prewritten(b)
                                                 : sealer_.seal_fresh(b);
        ++allocs;
      } else if (!b.open.empty() || !b.in_place.empty()) {
        sealer_.seal_changed(b);
      }
    }
    if (anchor_at_ != 0) sealer_.seal_anchor(anchor_at_, anchor_);
    if (s_.read_only && !sealer_.patches().empty())
      throw failure(SCUTE_E_READONLY, s_.path + " was opened read-only");
    {
      heap::taking_along steps(heap_.zones(), allocs != 0);  // PEND-1
      if (steps) {
        find_fresh();
        sealer_.add_steps(steps.patches(lane_, fresh_));
      }
      const medium::cost_scope planning(medium::cost_part::plan);
      write_set w = sealer_.result();
      w.freed = this;
      engine_->commit(lane_, w);
      if (steps) steps.made();
    }
    lane_.w.count.transactions.add(1);
    lane_.w.count.allocs.add(allocs);
    lane_.w.count.frees.add(frees);
  } catch (...) {
    abort();
    throw;
  }
  give_back();
  release_freed(true);
  end();
}

void transaction::commit(const write_set& made) {
  SCUTE_ASSERT(count_ == 0);
  const medium::cost_scope as(medium::cost_part::end);
  try {
    if (s_.read_only && !made.patches.empty())
      throw failure(SCUTE_E_READONLY, s_.path + " was opened read-only");
    engine_->commit(lane_, made);
    lane_.w.count.transactions.add(1);
  } catch (...) {
    abort();
    throw;
  }
  end();
}

void transaction::abort() noexcept {
  try {
    // Rolls back all ranges at once: the first word that declares the undo entries void ends them
    // all. On a medium that has failed, even in the commit that led here, nothing may be rolled
    // back. Only the next recovery knows whether the transaction was decided, and it needs
    // everything as it is.
    if (!s_.medium->failed()) engine_->restore(lane_, saved_);
  } catch (const failure&) {
    // The medium has failed now, so the undo entries stay alive.
  }
  // On a failed medium no slot may be used again either.
  for (size_t i = 0; i < count_ && !s_.medium->failed(); ++i)
    if (buffers_[i]->fresh) heap_.release(buffers_[i]->where);
  lane_.w.count.aborts.add(1);
  end();
}

void transaction::end() {
  count_ = small_count_ = 0;
  gave_back_ = false;
  saved_.clear();
  anchor_at_ = 0;
  index_.clear();
  arena_.reset();
  depth = 0;
  doomed = false;
  reads = {0, UINT64_MAX};
}

}  // namespace scute::core::tx

// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/rounding.hpp"
#include "core/shared/marks.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/in_flight_write.hpp"

namespace scute::core::engine {

checkpoint::checkpoint(pool::state& s, block_table& t, commit_log& log, uint64_t checkpoint_lsn,
                       unresolved_columns* unresolved)
    : s_(s),
      table_(t),
      log_(log),
      checkpoint_lsn_(checkpoint_lsn),
      unresolved_(unresolved),
      w_(*s.medium),
      taken_(t.new_list()) {
  for (uint32_t i = 0; i < s.geo.lane_count; ++i) active_lsns_.emplace_back();
}

// SPEC-7: makes undo records of the ranges open in place in the block, under its stripe. Returns
// false if there are none.
bool checkpoint::renew(uint64_t b) {
  open_.clear();
  records_.clear();
  copies_.clear();
  table_.for_each_dirty_page(b, [&](uint64_t at) {
    const size_t before = open_.size();
    s_.overlaid.for_each_in_place(
        at, block_table::page, [&](uint64_t offset, uint64_t n) { open_.push_back({offset, n}); });
    if (before == open_.size()) return;
    {
      const pool::optimistic_reads mark;
      std::memcpy(page_, s_.at(at), sizeof page_);
    }
    s_.overlaid.substitute(at, page_, sizeof page_);
    for (size_t i = before; i < open_.size(); ++i) {
      const uint64_t begin = round_down(open_[i].offset, granule_size);
      const uint64_t end = round_up(open_[i].offset + open_[i].length, granule_size);
      std::memcpy(copies_.extend(end - begin), page_ + (begin - at), end - begin);
      records_.push_back({begin, nullptr, end - begin, format::record_kind::undo});
    }
  });
  const std::byte* from = copies_.data();
  for (log_range& r : records_) {
    r.bytes = from;
    from += r.length;
  }
  return !open_.empty();
}

// Returns false if the block has to be checkpointed another time.
bool checkpoint::checkpoint_block(uint64_t b, uint64_t& highest) {
  const uint32_t stripe = table_.stripe_of(b);
  block_table::block& x = table_.at(b);
  uint64_t renewed = 0;
  bool checkpointed = false;
  s_.locks.lock_exclusive(stripe);
  {
    const pool::in_flight_scope here(s_, stripe, pool::in_flight_write::mode::exclusive);
    bool ready = x.pins.load(std::memory_order_relaxed) == 0;
    try {
      if (ready && renew(b)) {
        const bool reached = x.first.load(std::memory_order_relaxed) <= reach_;
        // Frames of one lane with one LSN are parts of one whole. `highest` includes the LSNs that
        // this checkpoint has drawn before.
        renewed = 1 + std::max({x.newest_lsn.load(std::memory_order_relaxed), highest,
                                checkpoint_lsn_.load(std::memory_order_relaxed)});
        // Earlier renewals are void when the truncation point moves again.
        ready = reached && log_.make_room(log_.checkpoint_lane(),
                                          log_.need_of(log_.checkpoint_lane(), records_));
      }
    } catch (const std::bad_alloc&) {
      ready = false;
      short_of_memory_ = true;
    }
    if (ready) {
      table_.clean(b,
                   [&](uint64_t at, uint64_t n) { w_.flush(s_.at(at), n, medium::purpose::data); });
      highest = std::max({highest, renewed, x.newest_lsn.load(std::memory_order_relaxed)});
      x.first.store(0, std::memory_order_relaxed);
      x.listed = false;
      if (renewed != 0) {
        table_.recorded(b, renewed);
        x.renewed = true;
        // The user continues to store there.
        for (const open_range& r : open_)
          table_.stored(b, r.offset, r.length, block_table::bytes_are::elsewhere);
      }
      checkpointed = true;
    } else if (const uint64_t first = x.first.load(std::memory_order_relaxed); first != 0) {
      reach_ = std::min(reach_, first - 1);
    }
  }
  s_.locks.unlock_exclusive(stripe);
  if (renewed != 0 && checkpointed) {
    renewal_lsn_ = renewed;
    renewed_ = true;
    log_.append(w_, log_.checkpoint_lane(), records_, frame_step, renewed, 0);
  }
  return checkpointed;
}

uint64_t checkpoint::oldest_active_lsn() const noexcept {
  uint64_t least = none_active;
  for (const lane_lsn& l : active_lsns_)
    least = std::min(least, l.lsn.load(std::memory_order_seq_cst));
  return least;
}

// The LSN up to which the truncation point can move, whatever becomes of the blocks that were taken
// off the list.
uint64_t checkpoint::in_reach() const noexcept {
  // UNRES-3, in this order.
  const uint64_t unresolved = unresolved_ != nullptr ? unresolved_->lowest() : UINT64_MAX;
  const uint64_t lowest = std::min(unresolved, table_.lowest());
  return std::min(oldest_active_lsn(), lowest == UINT64_MAX ? lowest : lowest - 1);
}

bool checkpoint::cycle() {
  const locked turn(mutex_);
  return round(SIZE_MAX);
}

void checkpoint::help() {
  const locked turn(mutex_);
  round(std::max(help_least, table_.listed() / help_part));
}

bool checkpoint::cycle_part(size_t parts) {
  size_t left = (table_.listed() + parts - 1) / parts;
  bool more = true;
  do {
    const size_t n = std::min(left, round_most);
    const locked turn(mutex_);
    more = round(n);
    left -= n;
  } while (left != 0 && more);
  return more;
}

// Whether a range in the block is open in place.
bool checkpoint::is_open(uint64_t b) {
  const uint32_t stripe = table_.stripe_of(b);
  bool open = false;
  s_.locks.lock_exclusive(stripe);
  {
    const pool::in_flight_scope here(s_, stripe, pool::in_flight_write::mode::exclusive);
    if (table_.at(b).renewed)
      table_.for_each_dirty_page(b, [&](uint64_t at) {
        s_.overlaid.for_each_in_place(at, block_table::page,
                                      [&](uint64_t, uint64_t) { open = true; });
      });
  }
  s_.locks.unlock_exclusive(stripe);
  return open;
}

bool checkpoint::rests() {
  const locked turn(mutex_);
  if (unresolved_ != nullptr && unresolved_->lowest() != UINT64_MAX) return false;
  // CKPT-4
  const uint64_t lowest = table_.lowest();
  if (log_.written() < std::min(checkpoint_lsn_.load(std::memory_order_relaxed), lowest - 1))
    return false;
  table_.take_list(taken_, SIZE_MAX);
  const bool all = std::ranges::all_of(taken_, [&](uint64_t b) {
    mutex_.assume_held();
    return is_open(b);
  });
  for (const uint64_t b : taken_) table_.put_back(b);
  taken_.clear();
  return all;
}

bool checkpoint::round(size_t blocks) {
  s_.require_healthy();
  short_of_memory_ = false;
  if (log_.is_apart() && watch_ns_ == 0) {
    watch_ns_ = pool::calendar_ns();
    watch_lsn_ = applied();
  }
  if (unresolved_ != nullptr) unresolved_->resolve_oldest(pool::resolver::at_once());  // UNRES-5
  table_.take_list(taken_, blocks);
  uint64_t highest = checkpoint_lsn_.load(std::memory_order_relaxed);
  reach_ = UINT64_MAX;
  // CKPT-3. The heap stays a valid array though an LSN may fall meanwhile (UNRES-3).
  if (log_.is_keeping_more()) {
    reach_ = in_reach();
    const auto oldest = [&](uint64_t b) {
      return table_.at(b).first.load(std::memory_order_relaxed);
    };
    std::ranges::make_heap(taken_, {}, oldest);
    std::ranges::sort_heap(taken_, {}, oldest);
  }
  for (const uint64_t b : taken_)
    if (!checkpoint_block(b, highest)) table_.put_back(b);
  taken_.clear();
  if (whole_ns_ != noted_ns_) {
    const locked hold(s_.service_mutex);
    pool::mark_checkpoint(s_, w_, noted_ns_ = whole_ns_);
  }
  w_.fence(fence_site::checkpoint);
  // These records alone have the ranges in place whose older records the truncation point passes.
  if (std::exchange(renewed_, false) && log_.is_apart())
    log_.fence(w_, log_.checkpoint_lane(), fence_site::renewal);
  s_.require_healthy();
  log_.fenced(log_.checkpoint_lane(), renewal_lsn_);
  checkpoint_lsn_.store(highest, std::memory_order_seq_cst);
  const uint64_t active_lsn = oldest_active_lsn();
  // UNRES-3, in this order: blocks that are resolved meanwhile move to the table.
  const uint64_t unresolved = unresolved_ != nullptr ? unresolved_->lowest() : UINT64_MAX;
  const uint64_t low = std::min(unresolved, table_.lowest());
  const uint64_t to = std::min({highest, active_lsn, low == UINT64_MAX ? low : low - 1});
  log_.write_truncation_point(w_, std::max(to, log_.written()));
  const bool more = !table_.is_clean() || log_.written() < highest || unresolved != UINT64_MAX;
  // By this thread: a fence of another thread does not complete what this one has streamed.
  log_.fence_truncation_point(w_);
  s_.require_healthy();
  log_.truncation_point_is_durable();
  if (log_.is_apart() && log_.written() >= watch_lsn_) whole_ns_ = std::exchange(watch_ns_, 0);
  if (short_of_memory_) throw std::bad_alloc();
  return more;
}

void checkpoint::past(uint64_t lsn) {
  // Commits in flight and pinned blocks end soon: commits under way wait for nothing but stripes.
  // Ranges open in place are renewed with a higher LSN each time.
  for (unsigned spins = 0; log_.truncation_point() < lsn;) {
    cycle();
    if (log_.truncation_point() < lsn) spin_pause(spins);
  }
}

// (A thread in the middle of a round has taken its blocks off the list.)
uint64_t checkpoint::applied() const noexcept {
  return std::max(table_.highest(), checkpoint_lsn());
}

void checkpoint::all() {
  uint64_t lsn = 0;
  while_it_rests([&] {
    mutex_.assume_held();
    lsn = applied();
  });
  past(lsn);
}

void checkpoint::note_time(bool closing) {
  const locked turn(mutex_);
  if (closing && (unresolved_ == nullptr || unresolved_->lowest() == UINT64_MAX))
    whole_ns_ = pool::calendar_ns();
  if (whole_ns_ == noted_ns_) return;
  {
    const locked hold(s_.service_mutex);
    pool::mark_checkpoint(s_, *s_.service, whole_ns_);
    s_.service->fence(fence_site::checkpoint_mark);
  }
  s_.require_healthy();
  noted_ns_ = whole_ns_;
}

}  // namespace scute::core::engine

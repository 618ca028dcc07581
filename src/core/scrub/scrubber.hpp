// SPDX-License-Identifier: BSD-3-Clause
// Verifies and repairs a whole pool while transactions run.
//
// The pool is divided into units, the column blocks of all zones. Walkers read them
// (column_walk.hpp), in any number of threads. They lock nothing and write nothing, so descheduling
// them does no harm. Suspects that they find go to one suspect repairer (suspect_repair.hpp): the
// thread that called run().
//
// SCRUB-1 A unit counts as done when it was read and its suspects were examined. The mark in the
//    pool (shared/marks.hpp) never says more than that, so an interrupted scrub misses nothing.
// SCRUB-2 A zone is ended, and its losses are reported, when all of its units are done.
// SCRUB-3 Callbacks run in the suspect repairer's thread.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <vector>

#include "base/locks/lock.hpp"
#include "core/heap/heap.hpp"
#include "core/scrub/column_walk.hpp"
#include "core/scrub/rate_limit.hpp"
#include "core/scrub/suspect_repair.hpp"
#include "core/tx/engine.hpp"
#include "scute/scute.h"

namespace scute::core::scrub {

struct scrub_options {
  uint32_t threads = 0;  // 0: one per CPU that the process may use
  uint64_t rate = 0;
  bool resume = false;
  bool repair = true;
  bool yield = false;  // walkers in threads of their own with the lowest priority
  scute_finding_fn finding = nullptr;
  scute_progress_fn progress = nullptr;
  void (*zone)(void* arg, const scute_zone_report* zone) = nullptr;
  void* arg = nullptr;
  // Runs the function with the lane, if no thread uses it. Empty: lanes are left alone.
  std::function<void(uint32_t lane, const std::function<void(pool::lane&)>&)> with_lane;
  tx::engine* engine = nullptr;  // whose log is examined
};

class scrubber {
 public:
  // stop: set to true by others to end it early. It must outlive this object.
  scrubber(pool::state& s, heap::heap& h, const scrub_options& o, const std::atomic<bool>& stop);

  void run(scute_report& report);

 private:
  enum class readiness : uint8_t { fresh, asked, ready, unusable };
  struct zone_state {
    readiness ready = readiness::fresh;
    uint64_t units_left = 0;
    bool begun = false;
    walk_tally seen;
  };
  // The state of one walker, with its position.
  struct walker_state {
    walker_state(pool::state& s, heap::heap& h) : walk(s, h) {}
    uint64_t at = UINT64_MAX;  // other threads read it: changed with the lock
    column_walker walk;
    walk_tally seen;  // not yet in its zone's
    std::vector<suspect> suspects;
  };
  struct task {
    enum class kind : uint8_t { look, begin_zone, end_zone } what;
    suspect d;
  };

  void copies();
  void work_alone();
  void work_together(uint32_t threads);
  void walk_units(walker_state& w) noexcept;
  void walk_batch(walker_state& w, uint64_t end);
  bool take_batch(walker_state& w, uint64_t& end);
  bool zone_ready(uint64_t zone);
  void pace(uint64_t bytes);
  void hand_over(walker_state& w);
  void flush(walker_state& w, uint64_t zone, uint64_t units);
  void perform(const task& t);
  void submit(task t);
  void end_zone(uint64_t zone);
  void report_progress(bool last);
  void report_events();
  void keep_mark(uint64_t position);
  uint64_t position();
  std::vector<uint64_t> begun_zones();
  void note_error() noexcept;
  uint64_t unit_bytes(uint64_t zone, uint64_t block) const noexcept;
  bool stopping() const noexcept {
    return stop_.load(std::memory_order_relaxed) || failed_.load(std::memory_order_relaxed);
  }

  pool::state& s_;
  heap::heap& heap_;
  const scrub_options o_;
  const std::atomic<bool>& stop_;
  const uint64_t per_zone_, units_;
  uint64_t first_ = 0;  // where this scrub began
  uint64_t started_ns_ = 0;
  rate_limit rate_;
  suspect_repairer repairer_;
  repair_tally copies_;

  plain_mutex mutex_;
  condition for_repairer_, for_walkers_;
  uint64_t next_ SCUTE_GUARDED_BY(mutex_) = 0;  // first unit that no walker has taken
  std::vector<zone_state> zones_ SCUTE_GUARDED_BY(mutex_);
  std::deque<walker_state> walkers_;  // complete before the first of them begins
  std::deque<task> tasks_ SCUTE_GUARDED_BY(mutex_);
  uint32_t walking_ SCUTE_GUARDED_BY(mutex_) = 0;
  bool alone_ = false;
  std::exception_ptr error_ SCUTE_GUARDED_BY(mutex_);
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> bytes_{0};
  uint64_t skipped_bytes_ = 0, total_bytes_ = 0;
  uint64_t reported_bytes_ = 0, marked_ns_ = 0;
  scute_report* report_ = nullptr;
};

}  // namespace scute::core::scrub

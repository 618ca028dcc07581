// SPDX-License-Identifier: BSD-3-Clause
// The scrubs of an open pool: one at a time, in the caller's thread or in the background, and by
// policy after every so many transactions.
//
// SCRUBSVC-1 A thread that sets running_ has the scrub to itself until it clears it.
// SCRUBSVC-2 Policy: threads add their lane's transactions to the common counter in steps, so that
//    they rarely touch it. The policy's thread, which waits for the counter, starts the scrub.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "base/locks/lock.hpp"
#include "core/scrub/scrubber.hpp"
#include "scute/scute.h"

namespace scute::core {

class instance;

class scrub_service {
 public:
  explicit scrub_service(instance& in) : in_(in) {}
  ~scrub_service() { close(); }
  scrub_service(const scrub_service&) = delete;
  scrub_service& operator=(const scrub_service&) = delete;

  // Throws SCUTE_E_BUSY if a scrub is under way.
  void run(const scute_scrub_options& o, scute_report& report);
  void start(const scute_scrub_options& o);
  // Throws SCUTE_E_NOENT, or the exception that ended the scrub.
  void wait(scute_report& report);
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }  // also in signal handlers

  // Starts policy SCRUB.
  void begin_policy(uint64_t every);
  // Called after each transaction by the thread that holds the lane.
  void count(const pool::lane& l) noexcept {
    if (every_ != 0) [[unlikely]]
      count_steps(l);
  }

  // Ends all that is running. No thread may be inside another call.
  void close() noexcept;

 private:
  void begin_alone();
  void perform(const scute_scrub_options& o, bool yield, scute_report& report);
  void count_steps(const pool::lane& l) noexcept;
  void keep_policy() noexcept;

  instance& in_;
  std::atomic<bool> running_{false}, stop_{false}, closing_{false};

  plain_mutex mutex_;
  std::thread background_ SCUTE_GUARDED_BY(mutex_);
  // The background thread's while it runs, then that of the thread that has joined it.
  scute_report report_{};
  std::exception_ptr error_;

  uint64_t every_ = 0, step_ = 1;
  std::vector<uint64_t> counted_;  // by lane
  std::atomic<uint64_t> transactions_{0};
  std::atomic<uint32_t> due_{0};  // changes when the policy's thread has work
  std::thread policy_;
};

}  // namespace scute::core

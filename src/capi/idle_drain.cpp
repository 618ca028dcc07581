// SPDX-License-Identifier: BSD-3-Clause
#include "capi/idle_drain.hpp"

#include <algorithm>
#include <chrono>

#include "medium/thread_signals.hpp"
#include "pool/library_call.hpp"
#include "pool/window.hpp"

namespace scute {

void idle_drain::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): see the declaration
  }
}

void idle_drain::stop() noexcept {
  {
    const std::lock_guard hold(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void idle_drain::run() noexcept {
  using std::chrono::milliseconds;
  // A deferred window is drained between one and two looks after its transaction. While nothing is
  // deferred the looks become rare.
  constexpr milliseconds shortest{20}, longest{640};
  medium::block_all_but_faults();
  const pool::library_call within;
  milliseconds pause = shortest;
  std::unique_lock hold(mutex_);
  while (!wake_.wait_for(hold, pause, [this] { return stop_; })) {
    hold.unlock();
    bool any = false;
    for (pool::lane& l : s_.lanes) any = pool::age(s_, l) || any;
    pause = any ? shortest : std::min(longest, pause * 2);
    hold.lock();
  }
}

}  // namespace scute

// SPDX-License-Identifier: BSD-3-Clause
#include "session/idle_drain.hpp"

#include <chrono>

#include "base/thread_signals.hpp"
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
  s_.watch.stop();
  if (thread_.joinable()) thread_.join();
}

void idle_drain::run() noexcept {
  block_all_but_faults();
  // A deferred window is drained between one and two looks after its transaction.
  constexpr std::chrono::milliseconds pause{20};
  const pool::library_call within;
  std::unique_lock hold(mutex_);
  while (!wake_.wait_for(hold, pause, [this] { return stop_; })) {
    hold.unlock();
    bool any = false;
    for (pool::lane& l : s_.lanes) any = pool::age(s_, l) || any;
    if (any)
      s_.watch.stay_awake();
    else if (s_.watch.dozing())  // since the last look at least (IDLE-1)
      s_.watch.sleep();
    else
      s_.watch.announce();
    hold.lock();
  }
}

}  // namespace scute

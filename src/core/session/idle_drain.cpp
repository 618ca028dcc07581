// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/idle_drain.hpp"

#include <chrono>

#include "base/process/library_thread.hpp"
#include "base/process/thread_signals.hpp"
#include "core/session/instance.hpp"
#include "core/shared/pool/library_call.hpp"

namespace scute::core {

void idle_drain::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): see the declaration
  }
}

void idle_drain::stop() noexcept {
  {
    const locked hold(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  in_.s.watch.stop();
  if (thread_.joinable()) thread_.join();
}

void idle_drain::run() noexcept {
  const library_thread here;
  block_all_but_faults();
  pool::idle_watch& watch = in_.s.watch;
  // A deferred window is drained one to two pauses after its transaction.
  constexpr std::chrono::milliseconds pause{20};
  const pool::library_call within;
  for (;;) {
    {
      const locked hold(mutex_);
      // The whole pause must pass: IDLE-1 depends on it.
      const auto end = std::chrono::steady_clock::now() + pause;
      while (!stop_ && wake_.wait_until(mutex_, end)) {
      }
      if (stop_) return;
    }
    if (in_.engine->background())
      watch.stay_awake();
    else if (watch.dozing())  // at least since the last check (IDLE-1)
      watch.sleep();
    else
      watch.announce();
  }
}

}  // namespace scute::core

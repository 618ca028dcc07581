// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/resolution_service.hpp"

#include <algorithm>
#include <exception>

#include "base/process/thread_signals.hpp"
#include "core/session/instance.hpp"
#include "core/shared/pool/library_call.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core {
namespace {

// Blocks between two checks of stop_; each block reads up to 400 KiB.
constexpr uint64_t step = 8;

}  // namespace

void resolution_service::begin() noexcept {
  in_.s.verify_on_read.store(true);
}

void resolution_service::start() {
  const locked hold(mutex_);
  // One CPU stays free for the program.
  const unsigned cpus = std::max(2u, std::thread::hardware_concurrency());
  try {
    for (unsigned i = 0; i + 1 < cpus; ++i) threads_.emplace_back([this] { scan(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // Without threads, each block is resolved when it is needed.
  }
}

void resolution_service::scan() noexcept {
  block_all_but_faults();
  const pool::library_call within;
  const pool::finder_scope as(SCUTE_FINDER_OPEN);
  try {
    while (!stop_.load(std::memory_order_relaxed) && in_.s.resolving->scan(step)) {
    }
    if (!stop_.load(std::memory_order_relaxed)) conclude();
  } catch (...) {
    const locked hold(mutex_);
    error_ = std::current_exception();
  }
}

bool resolution_service::all_done() const noexcept {
  const auto done = in_.s.resolving->done();
  return done.resolved == done.blocks;
}

// Called by a thread that finds the last block resolved.
void resolution_service::conclude() {
  pool::state& s = in_.s;
  if (!all_done()) return;  // another thread is still resolving
  const locked service(s.service_mutex);
  if (!s.resolving->pending()) return;
  s.sb.resolved_epoch = s.sb.epoch - 1;
  pool::write_superblock(*s.service, s.sb);
  s.require_healthy();
  s.resolving->finish();
  s.verify_on_read.store(in_.verify_on_read_by_choice());
}

void resolution_service::finish(scute_progress_fn progress, void* arg) {
  pool::resolver& work = *in_.s.resolving;
  if (!work.pending()) return;
  const uint64_t width = (uint64_t{in_.s.geo.rows} + in_.s.geo.parity) * format::page;
  const auto report = [&] {
    const auto done = work.done();
    if (progress != nullptr) progress(arg, "recover", done.resolved * width, done.blocks * width);
  };
  {
    const pool::finder_scope as(SCUTE_FINDER_OPEN);
    while (work.scan(step)) report();
  }
  // Waits for blocks that other threads have begun.
  for (unsigned spins = 0; !all_done();) {
    {
      const locked hold(mutex_);
      if (error_) std::rethrow_exception(error_);
    }
    report();
    spin_pause(spins);
  }
  conclude();
  report();
}

void resolution_service::stop() noexcept {
  stop_.store(true, std::memory_order_relaxed);
  std::vector<std::thread> threads;
  {
    const locked hold(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace scute::core

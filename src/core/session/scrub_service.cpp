// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/scrub_service.hpp"

#include <algorithm>

#include "base/failure.hpp"
#include "base/process/thread_signals.hpp"
#include "core/session/instance.hpp"
#include "core/shared/pool/library_call.hpp"

namespace scute::core {

void scrub_service::begin_alone() {
  if (running_.exchange(true, std::memory_order_acq_rel))
    throw failure(
        SCUTE_E_BUSY,
        in_.s.path +
            ": a scrub is running; wait for it (scute_scrub_wait) or stop it (scute_scrub_stop)");
  // A request to stop applies to the scrub that runs then, and not to a later one.
  stop_.store(false, std::memory_order_relaxed);
}

void scrub_service::perform(const scute_scrub_options& o, bool yield, scute_report& report) {
  struct end {
    std::atomic<bool>& running;
    ~end() { running.store(false, std::memory_order_release); }
  } const when_done{running_};
  const pool::library_call within;
  pool::state& s = in_.s;
  scrub::scrub_options h;
  h.threads = o.threads;
  h.rate = o.rate;
  h.resume = o.resume != 0;
  h.repair = !s.read_only;
  h.yield = yield;
  h.finding = o.finding;
  h.progress = o.progress;
  h.zone = o.zone;
  h.arg = o.arg;
  h.engine = in_.engine.get();
  h.with_lane = [this](uint32_t lane, const std::function<void(pool::lane&)>& fn) {
    in_.with_idle_lane(lane, fn);
  };
  // Unresolved blocks of a crash would look like damage.
  in_.resolving.finish(o.progress, o.arg);
  in_.repair_bad_pages(SCUTE_FINDER_SCRUB);
  scrub::scrubber(s, *in_.heap, h, stop_).run(report);
  if (report.complete != 0) s.account.scrubbed();
}

void scrub_service::run(const scute_scrub_options& o, scute_report& report) {
  begin_alone();
  perform(o, false, report);
}

void scrub_service::start(const scute_scrub_options& o) {
  begin_alone();
  const locked hold(mutex_);
  try {
    if (background_.joinable()) background_.join();  // it has ended; no caller asked for its report
    report_ = {};
    error_ = nullptr;
    background_ = std::thread([this, o] {
      block_all_but_faults();
      try {
        perform(o, true, report_);
      } catch (...) {
        error_ = std::current_exception();
      }
      in_.s.events.notify_all(in_.s);
    });
  } catch (const std::system_error&) {
    running_.store(false, std::memory_order_release);
    throw failure(SCUTE_E_NOMEM, "the thread of the scrub could not be created; nothing was begun");
  }
}

void scrub_service::wait(scute_report& report) {
  const locked hold(mutex_);
  if (!background_.joinable())
    throw failure(SCUTE_E_NOENT,
                  "there is no scrub to wait for; begin one with scute_scrub_start()");
  background_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  report = report_;
}

// ---- policy -------------------------------------------------------------------------------------

void scrub_service::begin_policy(uint64_t every) {
  counted_.assign(in_.s.lanes.size(), 0);
  for (const pool::lane& l : in_.s.lanes) counted_[l.index] = l.w.count.transactions.get();
  step_ = std::clamp<uint64_t>(every / 16, 1, 256);
  try {
    policy_ = std::thread([this] { keep_policy(); });
  } catch (const std::system_error&) {
    throw failure(SCUTE_E_NOMEM, "the thread of policy scrub could not be created");
  }
  every_ = every;
}

void scrub_service::count_steps(const pool::lane& l) noexcept {
  const uint64_t n = l.w.count.transactions.get();
  uint64_t& counted = counted_[l.index];
  if (n - counted < step_) return;
  const uint64_t more = n - counted;
  counted = n;
  const uint64_t before = transactions_.fetch_add(more, std::memory_order_relaxed);
  if (before / every_ == (before + more) / every_) return;
  due_.fetch_add(1, std::memory_order_release);
  due_.notify_one();
}

void scrub_service::keep_policy() noexcept {
  block_all_but_faults();
  const pool::finder_scope as(SCUTE_FINDER_SCRUB);
  scute_scrub_options o{};
  o.struct_size = sizeof o;
  o.threads = 1;
  for (uint32_t seen = 0;;) {
    due_.wait(seen, std::memory_order_acquire);
    seen = due_.load(std::memory_order_acquire);
    if (closing_.load(std::memory_order_acquire)) return;
    try {
      scute_report report{};
      begin_alone();
      if (closing_.load(std::memory_order_acquire)) stop();
      perform(o, true, report);
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): busy, or the pool failed; the next one will see
    }
    in_.s.events.notify_all(in_.s);
  }
}

void scrub_service::close() noexcept {
  closing_.store(true, std::memory_order_release);
  stop();
  due_.fetch_add(1, std::memory_order_release);
  due_.notify_all();
  if (policy_.joinable()) policy_.join();
  const locked hold(mutex_);
  if (background_.joinable()) background_.join();
}

}  // namespace scute::core

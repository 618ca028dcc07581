// SPDX-License-Identifier: BSD-3-Clause
#include "testing/scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/locks/waiting.hpp"

namespace scute::testing {
using namespace core;
namespace {

// A thread that waits gives up its turn. When all threads have done only that for so many turns,
// none will ever continue.
constexpr uint64_t waits_max = 100000;

thread_local unsigned me = 0;

void wait_in(void* self) {
  static_cast<scheduler*>(self)->wait();
}

#ifdef SCUTE_PLANTED_BUGS
void pass_in(void* self) {
  static_cast<scheduler*>(self)->operation(true);
}
#endif

}  // namespace

std::string schedule::text() const {
  std::string t = "thread " + std::to_string(first) + " first";
  for (const preemption& p : preemptions)
    t += ", thread " + std::to_string(p.to) + (p.fence ? " from fence " : " from operation ") +
         std::to_string(p.operation);
  return t;
}

unsigned scheduler::next_after(unsigned thread) const noexcept {
  const auto n = static_cast<unsigned>(done_.size());
  for (unsigned k = 1; k <= n; ++k)
    if (!done_[(thread + k) % n]) return (thread + k) % n;
  return thread;
}

// Called by the running thread; returns when it is its turn again.
void scheduler::give(unsigned to) {
  if (to == me) return;
  const locked hold(mutex_);
  running_ = to;
  if (turn_given_) turn_given_(to);
  changed_.notify_all();
  while (running_ != me) changed_.wait(mutex_);
}

void scheduler::operation(bool fence) {
  waits_ = 0;
  if (held_ != 0) return;
  const uint64_t operation = operations_++;
  const uint64_t fence_number = fence ? fences_++ : UINT64_MAX;
  for (const preemption& p : schedule_->preemptions) {
    if (p.operation != (p.fence ? fence_number : operation)) continue;
    if (p.to < done_.size() && !done_[p.to]) give(p.to);
    return;
  }
}

void scheduler::wait() {
  if (++waits_ > waits_max) {
    std::fprintf(stderr, "scute: deadlock: every thread waits for another one (%s)\n",
                 schedule_->text().c_str());
    std::abort();
  }
  give(next_after(me));
}

void scheduler::run(const std::vector<std::function<void()>>& bodies, const schedule& s,
                    const std::function<void(unsigned)>& turn_given) {
  done_.assign(bodies.size(), false);
  schedule_ = &s;
  operations_ = fences_ = waits_ = 0;
  held_ = 0;
  thrown_ = nullptr;
  turn_given_ = turn_given;
  const unsigned first = s.first < bodies.size() ? s.first : 0;
  {
    const locked hold(mutex_);
    running_ = first;
  }
  if (turn_given_) turn_given_(first);
  std::vector<std::thread> threads;
  threads.reserve(bodies.size());
  for (unsigned i = 0; i < bodies.size(); ++i)
    threads.emplace_back([&, i] {
      me = i;
      this_thread_waits.call = &wait_in;
      this_thread_waits.arg = this;
#ifdef SCUTE_PLANTED_BUGS
      this_thread_waits.pass = &pass_in;
#endif
      {
        const locked hold(mutex_);
        while (running_ != i) changed_.wait(mutex_);
      }
      try {
        bodies[i]();
      } catch (...) {
        if (!thrown_) thrown_ = std::current_exception();
      }
      const locked hold(mutex_);
      done_[i] = true;
      waits_ = 0;
      running_ = next_after(i);
      if (turn_given_) turn_given_(running_);
      changed_.notify_all();
      // At its end a thread returns the library's per-thread state, and a thread that has not begun
      // yet may or may not get it, depending on timing. So all threads end together.
      while (std::find(done_.begin(), done_.end(), false) != done_.end()) changed_.wait(mutex_);
    });
  for (auto& t : threads) t.join();
  if (thrown_) std::rethrow_exception(thrown_);
}

}  // namespace scute::testing

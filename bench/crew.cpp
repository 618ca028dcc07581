// SPDX-License-Identifier: BSD-3-Clause
#include "crew.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace scute::bench {
namespace {

uint64_t read_clock(clockid_t id) noexcept {
  timespec t{};
  ::clock_gettime(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

void pin(int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  // Where that is not allowed the numbers are noisier, not wrong.
  ::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

uint64_t now_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) cpus.push_back(i);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

crew::crew(unsigned threads, clock_kind clock) : clock_(clock), members_(threads) {
  const std::vector<int> cpus = usable_cpus();
  for (unsigned i = 0; i < threads; ++i)
    members_[i].thread = std::thread([this, i, cpu = cpus[i % cpus.size()]] {
      pin(cpu);
      live(i);
    });
}

crew::~crew() {
  {
    const std::lock_guard hold(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (member& m : members_) m.thread.join();
}

void crew::live(unsigned me) {
  uint64_t seen = 0;
  std::unique_lock hold(mutex_);
  for (;;) {
    wake_.wait(hold, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    if (me >= active_) continue;
    hold.unlock();
    work(me, *job_);
    hold.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

void crew::work(unsigned me, const job& j) {
  member& m = members_[me];
  const clockid_t clock = clock_ == clock_kind::cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  ready_.fetch_add(1, std::memory_order_acq_rel);
  for (unsigned spins = 0; ready_.load(std::memory_order_acquire) < active_;)
    if (++spins % 256 == 0) std::this_thread::yield();
  try {
    m.begin = read_clock(clock);
    j(me);
    m.end = read_clock(clock);
  } catch (const std::exception& e) {
    m.error = e.what();
  }
}

double crew::run(unsigned threads, const job& j) {
  std::unique_lock hold(mutex_);
  for (member& m : members_) m.error.clear();
  job_ = &j;
  active_ = running_ = threads;
  ready_.store(0, std::memory_order_release);
  ++generation_;
  wake_.notify_all();
  done_.wait(hold, [&] { return running_ == 0; });
  uint64_t first = UINT64_MAX, last = 0;
  double sum = 0;
  for (unsigned i = 0; i < threads; ++i) {
    const member& m = members_[i];
    if (!m.error.empty()) throw std::runtime_error(m.error);
    first = std::min(first, m.begin);
    last = std::max(last, m.end);
    sum += static_cast<double>(m.end - m.begin);
  }
  return clock_ == clock_kind::cpu ? sum / threads : static_cast<double>(last - first);
}

}  // namespace scute::bench

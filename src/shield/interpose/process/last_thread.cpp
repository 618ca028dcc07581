// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/process/last_thread.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/locks/waiting.hpp"
#include "base/process/library_thread.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/process/program_threads.hpp"
#include "shield/interpose/signals/signals_wait.hpp"

namespace scute::core::interpose {
namespace {

// Has a value only in the main thread, so its destructor runs when that thread ends by itself.
pthread_key_t main_thread{};
bool knows_main_thread = false;
// The argument of exit().
sigset_t signals_of_main{};

// Whether the main thread has ended; the kernel keeps it as long as the process lives.
bool main_thread_has_ended() noexcept {
  char name[48], state[512];
  std::snprintf(name, sizeof name, "/proc/thread-self/../%d/stat", ::getpid());
  const int fd = next::open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t n = next::read(fd, state, sizeof state - 1);
  next::close(fd);
  state[std::max<ssize_t>(n, 0)] = 0;
  const char* const name_end = std::strrchr(state, ')');
  return name_end != nullptr && std::strncmp(name_end, ") Z", 3) == 0;
}

// Whether the program has threads besides the runtime's own and `callers` calling threads.
bool program_has_threads(unsigned callers) noexcept {
  if (!libc_counts_more_than(callers)) return false;
  return !kernel_has_at_most(1) || !main_thread_has_ended();
}

void wait_for_the_last(unsigned callers) noexcept {
  constexpr long shortest = 1'000'000, longest = 20'000'000;  // ns
  timespec pause{0, shortest};
  for (; program_has_threads(callers); pause.tv_nsec = std::min(pause.tv_nsec * 5 / 4, longest))
    ::nanosleep(&pause, nullptr);
}

std::atomic<bool> waiter_counts{false};

void* end_with_the_last(void*) {
  bool counted = false;
  {
    const library_thread here;
    waiter_counts.store(true);
    wait_for_the_last(0);
    counted = !libc_counts_more_than(0);
  }
  ::pthread_sigmask(SIG_SETMASK, &signals_of_main, nullptr);
  if (!counted) ::_exit(0);
  std::exit(0);
}

// LAST-2
void main_thread_ends(void*) {
  {
    const critical now;
    watch_threads();
  }
  const uncancelled now;
  sigset_t before;
  hold_signals(before);
  signals_of_main = before;
  pthread_t waiter{};
  waiter_counts.store(false);
  const bool waits = ::pthread_create(&waiter, nullptr, &end_with_the_last, nullptr) == 0;
  if (waits) ::pthread_detach(waiter);
  // Once the main thread has ended the runtime's threads are counted as such.
  for (unsigned spins = 0; waits && !waiter_counts.load();) spin_pause(spins);
  // Without such a thread this one waits.
  if (!waits) wait_for_the_last(1);
  let_signals_come(before);
  if (!waits) std::exit(0);
}

// Whether the kernel still has so many of the program's threads. A thread of the runtime that was
// just made, and does not count itself yet, may look like one more for a while.
bool are_left(unsigned threads) noexcept {
  constexpr int looks = 200;
  for (int i = 0; i < looks; ++i) {
    if (kernel_has_at_most(threads)) return true;
    constexpr timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

void is_main_thread() noexcept {
  if (knows_main_thread) ::pthread_setspecific(main_thread, &main_thread);
}

}  // namespace

void watch_main_thread() noexcept {
  if (::gettid() != ::getpid() || knows_main_thread || !libc_counts_threads()) return;
  if (::pthread_key_create(&main_thread, &main_thread_ends) != 0) return;
  knows_main_thread = true;
  is_main_thread();
}

bool ends_process() noexcept {
  // Without threads of the runtime the kernel ends the process as it should; and a process that
  // shares its parent's memory is not ours.
  if (guarded_file::first() == nullptr || is_borrowed()) return false;
  {
    const critical now;
    watch_threads();
  }
  if (::gettid() != ::getpid()) return main_thread_has_ended() && are_left(2);
  if (are_left(1)) return true;
  if (knows_main_thread) main_thread_ends(nullptr);
  return false;
}

void main_thread_of_child() noexcept {
  is_main_thread();
}

}  // namespace scute::core::interpose

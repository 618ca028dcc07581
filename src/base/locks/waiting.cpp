// SPDX-License-Identifier: BSD-3-Clause
// Hooks of stores and loads wait here as well: only general registers may be used (HOOK-7).
#include "base/locks/waiting.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace scute::core {
namespace {

// Sleeps four times for each length, then twice as long. (Without a real-time priority the kernel
// adds some 50 microseconds.)
constexpr long first_sleep_ns = 20'000, longest_sleep_ns = 1'000'000;
constexpr unsigned sleeps_of_a_length = 4, doublings_most = 6;

// The function of the C library is a cancellation point.
void sleep_for(long ns) noexcept {
  const timespec pause{0, ns};
#if defined(__x86_64__)
  long number = SYS_nanosleep;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(&pause), "S"(nullptr)
                   : "rcx", "r11", "cc", "memory");
#else
  ::syscall(SYS_nanosleep, &pause, nullptr);
#endif
}

long sleep_of_turn(unsigned behind) noexcept {
  const unsigned doublings = std::min(behind / sleeps_of_a_length, doublings_most);
  return std::min(first_sleep_ns << doublings, longest_sleep_ns);
}

}  // namespace

void yield_or_sleep(unsigned& turns) noexcept {
  const int keep = errno;
  if (turns <= turns_before_sleep) {
    ::sched_yield();
  } else {
    sleep_for(sleep_of_turn(turns - turns_before_sleep - 1));
    // The number stays in the range of the longest sleeps.
    constexpr unsigned most = turns_before_sleep + 1'000'000;
    turns = std::min(turns, most);
  }
  errno = keep;
}

}  // namespace scute::core

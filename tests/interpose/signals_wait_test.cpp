// SPDX-License-Identifier: BSD-3-Clause
// The signals that are blocked where a handler returns to (DEFER-1): all that can wait. Of those
// that a fault raises, only the ones that were blocked before.
#include "shield/interpose/signals/signals_wait.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

namespace {
using namespace scute::core::interpose;

// After the kernel's set, its record holds other data.
struct record {
  ucontext_t context{};
  record() { std::memset(&context, 0x5a, sizeof context); }
  void block(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : signals) sigaddset(&set, s);
    std::memcpy(&context.uc_sigmask, &set, bytes_of_kernels_set);
  }
  bool blocks(int signal) const { return sigismember(&context.uc_sigmask, signal) == 1; }
};

TEST(signals_wait, HeldWhereAHandlerReturnsTo) {
  for (const bool blocked : {false, true}) {
    record r;
    r.block(blocked ? std::initializer_list<int>{SIGUSR1, SIGBUS} : std::initializer_list<int>{});
    const record before = r;
    hold_signals_in(r.context);
    for (const int s : {SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGRTMIN, SIGRTMAX})
      EXPECT_TRUE(r.blocks(s)) << s;
    for (const int s : {SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) EXPECT_FALSE(r.blocks(s)) << s;
    EXPECT_EQ(r.blocks(SIGBUS), blocked);
    std::memcpy(&r.context.uc_sigmask, &before.context.uc_sigmask, bytes_of_kernels_set);
    EXPECT_EQ(std::memcmp(&r.context, &before.context, sizeof r.context), 0);
  }
}

TEST(signals_wait, HeldAndLetCome) {
  sigset_t before, now;
  hold_signals(before);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
  EXPECT_EQ(sigismember(&now, SIGSEGV), sigismember(&before, SIGSEGV));
  let_signals_come(before);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGUSR1), sigismember(&before, SIGUSR1));
}

}  // namespace

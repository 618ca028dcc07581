// SPDX-License-Identifier: BSD-3-Clause
// Tests what a thread learns about the signals that it has handled (QUIET-1, QUIET-2).
#include <gtest/gtest.h>

#include <sys/time.h>

#include <csignal>
#include <cstdint>

#include "shield/interpose/signals/signal_free_region.hpp"

using namespace scute::core::interpose;

namespace {

volatile uint64_t handled = 0;

// A handler of SIGALRM, for the length of a test.
class with_handler {
 public:
  explicit with_handler(void (*f)(int)) {
    struct sigaction action{};
    action.sa_handler = f;
    sigaction(SIGALRM, &action, &before_);
  }
  ~with_handler() { sigaction(SIGALRM, &before_, nullptr); }
  with_handler(const with_handler&) = delete;
  with_handler& operator=(const with_handler&) = delete;

 private:
  struct sigaction before_{};
};

void count(int) {
  handled = handled + 1;
}

// Nothing but the scheduler may disturb this, which it does not do always.
bool left_alone_sometime() {
  for (int i = 0; i < 1000; ++i) {
    signal_free_region::begin();
    if (signal_free_region::end()) return true;
  }
  return false;
}

// Without restartable sequences the thread learns nothing, and signals wait (STORE-4).
bool is_to_be_had() {
  if (!signal_free_region::begin()) return false;
  signal_free_region::end();
  return true;
}

TEST(signal_free_region, IsReportedWithoutASignal) {
  if (!is_to_be_had()) return;
  EXPECT_TRUE(left_alone_sometime());
}

void expect_each_reported(void (*handler)(int)) {
  if (!is_to_be_had()) return;
  const with_handler h(handler);
  for (int i = 0; i < 100; ++i) {
    signal_free_region::begin();
    raise(SIGALRM);
    EXPECT_FALSE(signal_free_region::end());
  }
}

TEST(signal_free_region, AHandlerIsReported) {
  expect_each_reported(&count);
}

// QUIET-2
TEST(signal_free_region, AHandlerThatAsksIsReported) {
  expect_each_reported(+[](int) {
    signal_free_region::begin();
    signal_free_region::end();
  });
}

// Signals that come at any instruction.
TEST(signal_free_region, NoHandlerIsMissed) {
  if (!is_to_be_had()) return;
  const with_handler h(&count);
  constexpr itimerval often{{0, 50}, {0, 50}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  uint64_t missed = 0, seen = 0, alone = 0;
  while (handled < 2000 || seen == 0 || alone == 0)
    for (int i = 0; i < 1000; ++i) {
      signal_free_region::begin();
      const uint64_t before = handled;
      volatile int spent = 0;
      while (spent < 20) {
        const int next = spent + 1;
        spent = next;
      }
      const bool came = handled != before;
      const bool none = signal_free_region::end();
      missed += none && came ? 1 : 0;
      seen += came ? 1 : 0;
      alone += none ? 1 : 0;
    }
  setitimer(ITIMER_REAL, &never, nullptr);
  EXPECT_EQ(missed, 0u);
}

}  // namespace

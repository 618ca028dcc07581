// SPDX-License-Identifier: BSD-3-Clause
#include "testing/last_words.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace scute::testing {
namespace {

constexpr int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
struct sigaction before[5];
// Another handler was installed above ours, as the first pool of a process does. It calls ours for
// faults that it cannot handle. If we removed it with ours, the pools would lose it.
bool covered[5];
char words[512];
size_t length = 0;

void handle(int number) {
  // Only calls that are allowed in a signal handler.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words, length);
  for (size_t i = 0; i < 5; ++i)
    if (signals[i] == number) ::sigaction(number, &before[i], nullptr);
  ::raise(number);
}

}  // namespace

last_words::last_words() {
  struct sigaction a = {};
  a.sa_handler = handle;
  ::sigemptyset(&a.sa_mask);
  a.sa_flags = SA_NODEFER;
  for (size_t i = 0; i < 5; ++i)
    if (!covered[i]) ::sigaction(signals[i], &a, &before[i]);
}

last_words::~last_words() {
  for (size_t i = 0; i < 5; ++i) {
    struct sigaction now = {};
    if (covered[i] || ::sigaction(signals[i], nullptr, &now) != 0) continue;
    covered[i] = (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != handle;
    if (!covered[i]) ::sigaction(signals[i], &before[i], nullptr);
  }
  length = 0;
}

void last_words::say(const std::string& text) noexcept {
  length = std::min(text.size(), sizeof words);
  std::memcpy(words, text.data(), length);
}

}  // namespace scute::testing

// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.hpp"

#include "failure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace scute_tool {

namespace {

std::atomic<int> received{0};
std::atomic<int> wake_pipe{-1};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void on_signal(int number) {
  const int saved = errno;
  received = number;
  const char byte = 0;
  if (write(wake_pipe, &byte, 1) < 0) {
    // The pipe is full: it is readable already.
  }
  errno = saved;
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

interrupt::interrupt() {
  if (pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0)
    throw failure(exit_error, "pipe", std::generic_category().message(errno));
  received = 0;
  wake_pipe = pipe_[1];
  const int once = static_cast<int>(SA_RESETHAND);
  handle(SIGINT, on_signal, once | SA_RESTART);
  handle(SIGTERM, on_signal, once | SA_RESTART);
}

interrupt::~interrupt() {
  handle(SIGINT, SIG_DFL, 0);
  handle(SIGTERM, SIG_DFL, 0);
  wake_pipe = -1;
  close(pipe_[0]);
  close(pipe_[1]);
}

bool interrupt::requested() const {
  return received != 0;
}

exit_code interrupt::code() const {
  return received == SIGTERM ? exit_sigterm : exit_sigint;
}

}  // namespace scute_tool

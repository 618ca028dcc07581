// SPDX-License-Identifier: BSD-3-Clause
#include "last_words.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace scute_torture {

namespace {

std::array<char, 4096> words;
volatile std::sig_atomic_t requested = 0;

void say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

extern "C" void on_end(int signal) {
  say(signal == SIGALRM ? "\nFAILED: the library hangs\n"
                        : "\nFAILED: the library ended the process that verifies\n");
  say(words.data());
  _exit(1);
}

extern "C" void on_stop(int) {
  requested = 1;
}

}  // namespace

void set_last_words(const std::string& text) {
  words.fill('\0');
  std::memcpy(words.data(), text.data(), std::min(text.size(), words.size() - 1));
}

void catch_signals() {
  for (const int s : {SIGABRT, SIGSEGV, SIGBUS, SIGALRM}) std::signal(s, on_end);
  for (const int s : {SIGINT, SIGTERM}) std::signal(s, on_stop);
}

bool stop_requested() {
  return requested != 0;
}

void watch(unsigned seconds) {
  alarm(seconds);
}

}  // namespace scute_torture

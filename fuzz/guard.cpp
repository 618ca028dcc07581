// SPDX-License-Identifier: BSD-3-Clause
#include "guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SCUTE_FUZZ_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCUTE_FUZZ_SANITIZED 1
#endif
#if defined(SCUTE_FUZZ_SANITIZED)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer's own handlers fall over the callback, which is instrumented.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0";
}
#endif

namespace scute::fuzz {
namespace {

std::string save_folder, repeat_command;
std::span<const uint8_t> current;
const char* current_note = "";
unsigned timeout = 0;
volatile sig_atomic_t running = 0;

void put(const char* text) noexcept {
  if (::write(2, text, std::strlen(text)) < 0) return;
}

// Called from signal handlers: system calls and fixed buffers only.
void save() noexcept {
  if (running == 0) return;
  running = 0;
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t b : current) hash = (hash ^ b) * 0x100000001b3u;
  char path[4096];
  std::snprintf(path, sizeof path, "%s/failure-%016llx", save_folder.c_str(),
                static_cast<unsigned long long>(hash));
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool saved = fd >= 0 && ::write(fd, current.data(), current.size()) ==
                                    static_cast<ssize_t>(current.size());
  if (fd >= 0) ::close(fd);
  put("\nfuzz: an input failed");
  put(current_note);
  put(saved ? "\nfuzz: it is saved; repeat it with\n  " : "\nfuzz: it could not be saved to\n  ");
  if (saved) {
    put(repeat_command.c_str());
    put(" ");
  }
  put(path);
  put("\n");
}

void on_signal(int signal) noexcept {
  if (signal == SIGALRM) put("\nfuzz: the input takes too long");
  save();
  ::_exit(1);
}

}  // namespace

void guard_install(const std::string& folder, const std::string& repeat, unsigned timeout_s) {
  save_folder = folder;
  repeat_command = repeat;
  timeout = timeout_s;
  struct sigaction a{};
  a.sa_handler = &on_signal;
  ::sigaction(SIGABRT, &a, nullptr);
  ::sigaction(SIGALRM, &a, nullptr);
#if defined(SCUTE_FUZZ_SANITIZED)
  // The sanitizer reports bad accesses itself, and then calls back.
  __sanitizer_set_death_callback(&save);
#endif
#if !defined(SCUTE_FUZZ_SANITIZED) || defined(__SANITIZE_THREAD__)
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ::sigaction(s, &a, nullptr);
#endif
}

void guard_begin(std::span<const uint8_t> input, const char* note) noexcept {
  current = input;
  current_note = note;
  running = 1;
  if (timeout != 0) ::alarm(timeout);
}

void guard_end() noexcept {
  running = 0;
  if (timeout != 0) ::alarm(0);
}

}  // namespace scute::fuzz

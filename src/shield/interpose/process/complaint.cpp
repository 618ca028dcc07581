// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/process/complaint.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string_view>

#include "base/process/uncancelled.hpp"
#include "shield/interpose/calls/next_calls.hpp"

namespace scute::core::interpose {
namespace {

struct stat standard_error{};  // as the program found it
bool is_remembered = false;

// Whether the program has closed descriptor 2 and opened something of its own there, to which we
// must not write. (Logs are appended to.)
bool is_data(int fd) noexcept {
  struct stat s{};
  if (!is_remembered || next::fstat(fd, &s) != 0) return false;
  if (s.st_dev == standard_error.st_dev && s.st_ino == standard_error.st_ino) return false;
  return S_ISBLK(s.st_mode) || S_ISSOCK(s.st_mode) ||
         (S_ISREG(s.st_mode) && (next::fcntl(fd, F_GETFL) & O_APPEND) == 0);
}

// Writes a line; a closed pipe must not end the program by SIGPIPE.
void write_line(std::string_view line) noexcept {
  if (is_data(STDERR_FILENO)) return;
  const uncancelled now;
  sigset_t broken, before, pending;
  ::sigemptyset(&broken);
  ::sigaddset(&broken, SIGPIPE);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &broken, &before);
  const bool was_there = ::sigismember(&pending, SIGPIPE) == 1;
  constexpr timespec at_once{};
  if (next::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EPIPE && !was_there)
    ::sigtimedwait(&broken, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void remember_standard_error() noexcept {
  is_remembered = next::fstat(STDERR_FILENO, &standard_error) == 0 || errno == EBADF;
}

void complain(const std::string& what, const std::string& why) noexcept {
  const int keep = errno;
  try {
    write_line("scute: " + what + ": " + why + "\n");
  } catch (const std::exception&) {
    write_line("scute: out of memory\n");
  }
  errno = keep;
}

int errno_of(const failure& e) noexcept {
  switch (e.code()) {
    case SCUTE_E_BUSY: return EBUSY;
    case SCUTE_E_NOSPC: return ENOSPC;
    case SCUTE_E_NOMEM: return ENOMEM;
    case SCUTE_E_NOENT: return ENOENT;
    case SCUTE_E_READONLY: return EROFS;
    case SCUTE_E_RANGE: return EFBIG;
    case SCUTE_E_INVALID: return EINVAL;
    default: return EIO;
  }
}

}  // namespace scute::core::interpose

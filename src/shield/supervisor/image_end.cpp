// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/image_end.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace scute::core::supervisor {
namespace {

// linux/pidfd.h of kernel 6.15; older headers lack it.
struct pidfd_status {
  uint64_t mask, cgroup;
  uint32_t ids[11];
  int32_t exit_code;
};
static_assert(sizeof(pidfd_status) == 64);
constexpr uint64_t status_wanted = 1u << 3;
constexpr unsigned long get_status = _IOWR(0xff, 11, pidfd_status);

// The kernel's PF_EXITING, in /proc/PID/stat.
bool is_exiting(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;  // gone
  char text[1024];
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (n <= 0) return true;
  text[n] = 0;
  const char* const after_name = std::strrchr(text, ')');
  char state = 'X';
  unsigned flags = 0;
  if (after_name == nullptr ||
      std::sscanf(after_name, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
    return true;
  constexpr unsigned exiting = 4;
  return state == 'Z' || state == 'X' || (flags & exiting) != 0;
}

int signal_of(pid_t pid, int pidfd) {
  siginfo_t info{};
  const int left = WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | left) == 0 &&
      info.si_pid == pid)
    return info.si_code == CLD_EXITED ? 0 : info.si_status;
  pidfd_status status{};
  status.mask = status_wanted;
  if (pidfd >= 0 && ::ioctl(pidfd, get_status, &status) == 0 && (status.mask & status_wanted) != 0)
    return WIFSIGNALED(status.exit_code) ? WTERMSIG(status.exit_code) : 0;
  return SIGKILL;
}

}  // namespace

image_end how_it_ended(pid_t pid, int pidfd) {
  if (!is_exiting(pid)) return {0, true};
  pollfd ended{pidfd, POLLIN, 0};
  // Dumping core can take its time.
  while (pidfd >= 0 && ::poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  return {signal_of(pid, pidfd), false};
}

bool is_fault(int signal) noexcept {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGABRT:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS: return true;
    default: return false;
  }
}

}  // namespace scute::core::supervisor

// SPDX-License-Identifier: BSD-3-Clause
// LOGFILE-9: a pool that was closed, and next to it an older copy of its log. A process that
// opens the pool is killed at its first, second, ... write to a given place of the log. Whenever
// it is killed, no record of the older copy counts.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "session/log_file.hpp"
#include "support/child.hpp"

namespace scute::test {
namespace {

// From here on a pwrite() to this offset of any file ends the process, before it writes.
void die_at(uint32_t offset) {
  const auto load = [](size_t at) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(at)};
  };
  const auto equals = [](uint32_t k, uint8_t skip) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, skip, k};
  };
  sock_filter rules[] = {load(offsetof(seccomp_data, nr)),
                         equals(SYS_pwrite64, 3),
                         load(offsetof(seccomp_data, args) + 3 * sizeof(uint64_t)),
                         equals(offset, 1),
                         {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                         {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{std::size(rules), rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(2);
}

// The heads, the truncation point's places in both of its pages, and the first chunk
// (docs/reference/format.md).
constexpr uint32_t places[] = {0, 4096, 8192, 8192 + 64, 12288, 12288 + 64, 16384};

TEST(older_log, BringsNothingBack) {
  unsigned deaths = 0;
  for (const uint32_t place : places) {
    SCOPED_TRACE(place);
    disk_pool f;
    f.change(1);
    const bytes older = read_file(f.log);
    f.change(2);
    f.close();
    write_file(f.log, older);
    child c([&] {
      die_at(place);
      f.open();
      f.change(2);  // as it is
    });
    const int status = c.wait();
    deaths += WIFSIGNALED(status) ? 1 : 0;
    f.open();
    f.expect_last();
    f.survive(3);
  }
  EXPECT_GE(deaths, 4U) << "the process no longer writes there";
}

}  // namespace
}  // namespace scute::test

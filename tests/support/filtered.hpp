// SPDX-License-Identifier: BSD-3-Clause
// A filter of system calls, as sandboxes and containers have, on the calling thread and those that
// it makes.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scute::test {

struct filtered_call {
  uint32_t number;
  int argument;    // that is looked at; -1: every call of that number
  uint32_t is;     // the value of its lower half
  uint32_t error;  // the error of the call; 0: it does nothing and succeeds
};

inline bool filter_calls(const std::vector<filtered_call>& calls) {
  std::vector<sock_filter> p;
  const auto load = [&](size_t offset) {
    p.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  };
  for (const filtered_call& c : calls) {
    load(offsetof(seccomp_data, nr));
    p.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c.number, 0,
                         static_cast<uint8_t>(c.argument < 0 ? 1 : 3)));
    if (c.argument >= 0) {
      load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(c.argument));
      p.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c.is, 0, 1));
    }
    p.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | c.error));
  }
  p.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(p.size()), p.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace scute::test

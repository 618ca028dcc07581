// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "systems/object_system.hpp"
#include "systems/pmemobj_huge.hpp"

#ifndef MAP_SHARED_VALIDATE
#define MAP_SHARED_VALIDATE 0x03
#endif
#ifndef MAP_SYNC
#define MAP_SYNC 0x80000
#endif

namespace scute::bench {

const std::vector<system_kind>& system_kinds() {
  static const std::vector<system_kind> kinds{
      {"redo-none", "scute", "redo-none", "Scute, crash consistency only", true, true, make_scute},
      {"redo-ml", "scute", "redo-ml", "Scute, + metadata and logs replicated", true, true,
       make_scute},
      {"redo-mlp", "scute", "redo-mlp", "Scute, + parity over everything", true, true, make_scute},
      {"redo-mlpc", "scute", "redo-mlpc", "Scute, + checksums", true, true, make_scute},
      {"logfree-mlpc", "scute", "logfree-mlpc",
       "Scute, log-free, everything protected: the default", true, true, make_scute},
      {"logfree2-mlpc", "scute", "logfree2-mlpc", "the same with two rows of parity", true, true,
       make_scute},
      {"plain-mlpc", "scute", "plain-mlpc", "Scute, log-free without pipelined kernels", true, true,
       make_scute},
      {"spec-none", "scute", "spec-none", "Scute, speculative log, crash consistency only", true,
       true, make_scute},
      {"spec-mlpc", "scute", "spec-mlpc", "the same, everything protected", true, true, make_scute},
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
      {"libpmemobj", "libpmemobj", "tx", "PMDK's object store, transactional C interface", true,
       true, make_pmemobj},
      {pmemobj_huge, pmemobj_huge, "tx", "the same in huge pages, as on a DAX file", true, true,
       make_pmemobj},
#endif
      {"raw-logfree", "raw-logfree", "floor",
       "the loads, stores, write-backs and fences of logfree-mlpc", false, false, make_raw},
      {"raw-log", "raw-log", "floor", "the same of a speculative log, in one fence", false, false,
       make_raw},
      {"raw-redo", "raw-redo", "floor", "the same of redo-mlpc", false, false, make_raw},
      {"memcpy", "memcpy", "persist", "the bytes alone, flushed and fenced; not atomic", false,
       false, make_memcpy},
      {"volatile", "volatile", "malloc", "malloc, memcpy and free in DRAM", true, false,
       make_volatile},
  };
  return kinds;
}

bool cpu_persists(const std::string& dir) {
  struct statfs fs{};
  if (::statfs(dir.c_str(), &fs) == 0 && fs.f_type == TMPFS_MAGIC) return true;
  const int fd = ::open(dir.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool granted = false;
  if (::ftruncate(fd, 4096) == 0) {
    void* p = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
    granted = p != MAP_FAILED;
    if (granted) ::munmap(p, 4096);
  }
  ::close(fd);
  return granted;
}

}  // namespace scute::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "base/read_memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace scute::core {

namespace {

// call: copies within this process, between memory that may not be mapped (theirs) and memory that
// is (mine).
bool transfer(long call, void* mine, const void* theirs, size_t n, bool& permitted) noexcept {
  const int keep = errno;
  const iovec own{mine, n}, other{const_cast<void*>(theirs), n};
  const long got = ::syscall(call, ::getpid(), &own, 1, &other, 1, 0);
  permitted = got >= 0 || (errno != ENOSYS && errno != EPERM);
  errno = keep;
  return got == static_cast<long>(n);
}

bool write_memory(void* to, const void* from, size_t n) noexcept {
  bool permitted = true;
  const bool done = transfer(SYS_process_vm_writev, const_cast<void*>(from), to, n, permitted);
  if (permitted) return done;
  std::memcpy(to, from, n);
  return true;
}

}  // namespace

bool read_memory(void* to, const void* from, size_t n) noexcept {
  bool permitted = true;
  const bool done = transfer(SYS_process_vm_readv, to, from, n, permitted);
  if (permitted) return done;
  std::memcpy(to, from, n);
  return true;
}

// The kernel makes a second mapping of the page from the first one: no descriptor is needed.
bool write_shared_page(void* page, size_t size, const void* from, size_t n) noexcept {
  void* const there = ::mremap(page, 0, size, MREMAP_MAYMOVE);
  if (there == MAP_FAILED) return false;
  bool put = ::mprotect(there, size, PROT_READ | PROT_WRITE) == 0;
  if (put && !write_memory(there, from, n))
    put = ::madvise(there, size, MADV_REMOVE) == 0 && write_memory(there, from, n);
  ::munmap(there, size);
  return put;
}

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/program_threads.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>

#include "base/library_thread.hpp"
#include "interpose/next_calls.hpp"
#include "interpose/own_descriptors.hpp"

namespace scute::core::interpose {
namespace {

// Zeros in a child (THREADS-2).
struct task_folder {
  int descriptor;
  dev_t device;
  ino_t inode;
};
task_folder* tasks = nullptr;
bool begun = false;
std::atomic<bool> unheard{false};

// Of the process, as the kernel has it; 0: not known.
nlink_t threads_now() noexcept {
  if (tasks == nullptr || tasks->inode == 0) return 0;
  struct stat s{};
  if (next::fstat(tasks->descriptor, &s) != 0 || s.st_dev != tasks->device ||
      s.st_ino != tasks->inode || s.st_nlink < 2)
    return 0;
  return s.st_nlink - 2;  // a link of each thread's, and those that each folder has
}

}  // namespace

void watch_threads() noexcept {
  if (begun) return;
  begun = true;
  constexpr size_t page = 4096;
  void* const at =
      ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return;
  const int fd = next::open("/proc/self/task", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int kept = fd < 0 ? -1 : keep_own(fd);
  struct stat s{};
  if (fd >= 0) next::close(fd);
  if (kept < 0 || next::fstat(kept, &s) != 0 || ::madvise(at, page, MADV_WIPEONFORK) != 0) {
    close_own(kept);
    ::munmap(at, page);
    return;
  }
  tasks = static_cast<task_folder*>(at);
  *tasks = {kept, s.st_dev, s.st_ino};
}

void threads_come_unheard() noexcept {
  unheard.store(true);
}

// THREADS-1
bool has_one_thread() noexcept {
  if (unheard.load()) return false;
  if (__libc_single_threaded != 0) return true;
  const int keep = errno;
  const unsigned own = library_thread::count();
  const bool one = threads_now() == own + 1 && library_thread::count() == own;
  errno = keep;
  return one;
}

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/process/program_threads.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>

#include "base/process/library_thread.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"

namespace scute::core::interpose {
namespace {

// The folder of this process's threads; zeros in a child (THREADS-2).
struct task_folder {
  dev_t device;
  ino_t inode;
};
task_folder* tasks = nullptr;
constinit kept_number descriptor;  // its descriptor; in a child possibly its parent's
std::atomic<bool> unintercepted{false};
std::atomic<bool> had_more{false};
constexpr unsigned answers_between_looks = 64;
std::atomic<unsigned> answers{0};

// The C library's count of threads that it has made and that have not ended, and the main one.
// Null: it exports none.
const unsigned* threads_of_libc = nullptr;
// Threads counted by library_thread that stayed with the parent.
unsigned left_with_parent = 0;

unsigned own_threads() noexcept {
  return library_thread::count() - left_with_parent;
}

// The kernel's count of the process's threads; 0: unknown.
nlink_t threads_now() noexcept {
  if (tasks == nullptr || tasks->inode == 0) return 0;
  const int keep = errno;
  struct stat s{};
  const bool known = next::fstat(descriptor.number(), &s) == 0 && s.st_dev == tasks->device &&
                     s.st_ino == tasks->inode && s.st_nlink > 2;
  errno = keep;
  return known ? s.st_nlink - 2 : 0;  // one link per thread, and the two of every folder
}

// Memory that is zeroed in a child.
task_folder* wiped_in_child() noexcept {
  constexpr size_t page = 4096;
  void* const at =
      ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  if (::madvise(at, page, MADV_WIPEONFORK) == 0) return static_cast<task_folder*>(at);
  ::munmap(at, page);
  return nullptr;
}

}  // namespace

void watch_threads() noexcept {
  if (tasks == nullptr) tasks = wiped_in_child();
  if (tasks == nullptr || tasks->inode != 0) return;
  close_own(descriptor);
  const int fd = next::open("/proc/self/task", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  descriptor = kept_number(keep_own(fd));
  struct stat s{};
  if (next::fstat(descriptor.get(), &s) == 0) *tasks = {s.st_dev, s.st_ino};
  next::close(fd);
}

void threads_come_unintercepted() noexcept {
  unintercepted.store(true);
}

void threads_come() noexcept {
  had_more.store(true);
}

void find_threads_of_libc() noexcept {
  threads_of_libc = static_cast<const unsigned*>(::dlsym(RTLD_DEFAULT, "__nptl_nthreads"));
  if (threads_of_libc == nullptr) static_cast<void>(::dlerror());  // the program's
}

void forget_threads_of_parent() noexcept {
  left_with_parent = library_thread::count();
  had_more.store(false);
}

bool libc_counts_threads() noexcept {
  return threads_of_libc != nullptr;
}

// The C library counts a thread of the runtime before the thread counts itself, and longer: so none
// of the program's is mistaken for one.
bool libc_counts_more_than(unsigned threads) noexcept {
  const unsigned own = own_threads();
  const unsigned all = __atomic_load_n(threads_of_libc, __ATOMIC_ACQUIRE);
  return all > own + threads || own != own_threads();
}

bool kernel_has_at_most(unsigned threads) noexcept {
  const unsigned own = own_threads();
  const nlink_t all = threads_now();
  return all != 0 && all <= own + threads && own_threads() == own;
}

// THREADS-1
bool has_one_thread() noexcept {
  if (unintercepted.load()) return false;
  if (__libc_single_threaded != 0) return true;
  if (!libc_counts_threads()) return kernel_has_at_most(1);
  if (libc_counts_more_than(1)) {
    had_more.store(true);
    return false;
  }
  // THREADS-3
  if (had_more.load()) {
    if (!kernel_has_at_most(1)) return false;
    had_more.store(false);
    return true;
  }
  // THREADS-4
  if (answers.fetch_add(1, std::memory_order_relaxed) % answers_between_looks != 0) return true;
  const bool one = threads_now() <= own_threads() + 1;
  if (!one) had_more.store(true);
  return one;
}

bool has_still_one_thread() noexcept {
  return libc_counts_threads() && !unintercepted.load() && !had_more.load() &&
         !libc_counts_more_than(1);
}

}  // namespace scute::core::interpose

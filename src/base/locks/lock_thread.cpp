// SPDX-License-Identifier: BSD-3-Clause
#include "base/locks/lock_thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/process/library_thread.hpp"
#include "base/process/process.hpp"
#include "base/process/thread_signals.hpp"
#include "base/process/uncancelled.hpp"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

// ThreadSanitizer ends a child that makes a thread, if its parent had several.
extern "C" [[gnu::weak]] void __tsan_init();  // NOLINT(bugprone-reserved-identifier)

namespace scute::core {
namespace {

constexpr size_t stack_size = size_t{128} << 10;

struct request {
  pid_t thread = 0;  // whose fd is to be opened; 0: fd is the lock thread's, to be unlocked
  int fd = -1;
  lock_request lock;
  bool last = false;  // there is no other lock
  kept_place place;   // the answer
};

enum class table : uint32_t { own, programs };

// A requesting thread asks, the lock thread answers.
struct conversation {
  request now;
  std::atomic<uint32_t> asked{0}, answered{0};
  std::atomic<table> whose{table::own};
};

struct lock_thread {
  uint64_t process = 0;
  unsigned locks = 0;  // 0: there is no thread
  pthread_t thread{};
  bool parent_had_one = false;  // at the time this process was made
  bool has_no_table = false;    // and will not get one
};

constinit process_mutex turn;
constinit lock_thread mine SCUTE_GUARDED_BY(turn);
constinit conversation talk;

// ---- in the thread ------------------------------------------------------------------------------

bool close_copies() noexcept {
  const auto folder = static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder < 0) return false;
  alignas(8) char entries[2048];
  constexpr size_t length_at = 16, name_at = 19;  // of struct linux_dirent64
  for (long n = 0; (n = ::syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < n;) {
      const char* const entry = entries + at;
      unsigned short length = 0;
      std::memcpy(&length, entry + length_at, sizeof length);
      const char* const name = entry + name_at;
      const auto fd = static_cast<int>(std::strtol(name, nullptr, 10));
      if (name[0] != '.' && fd != folder) ::syscall(SYS_close, fd);
      at += length;
    }
  }
  ::syscall(SYS_close, folder);
  return true;
}

// LOCK-1. Linux before 5.9 copies the table first.
bool leave_table() noexcept {
  if (::syscall(SYS_close_range, 0U, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0) return true;
  return ::unshare(CLONE_FILES) == 0 && close_copies();
}

kept_place lock_here(const request& r) noexcept {
  const int fd = open_again(r.thread, r.fd, r.lock);
  if (fd < 0) return {errno, false, -1};
  const int e = take_kept(fd, r.lock, true);
  if (e != 0) ::syscall(SYS_close, fd);
  return {e, true, e == 0 ? fd : -1};
}

void* keep_locks(void*) {
  const library_thread here;
  block_all_but_faults();
  // The thread is made for the first request.
  uint32_t seen = talk.answered.load(std::memory_order_acquire);
  bool ends = !leave_table();
  talk.whose.store(ends ? table::programs : table::own, std::memory_order_relaxed);
  do {
    talk.asked.wait(seen, std::memory_order_acquire);
    const uint32_t number = talk.asked.load(std::memory_order_acquire);
    if (number == seen) continue;
    seen = number;
    request& r = talk.now;
    r.place = {};
    if (!ends && r.thread != 0) r.place = lock_here(r);
    if (!ends && r.thread == 0) {
      unlock(r.fd, r.lock);
      ::syscall(SYS_close, r.fd);
    }
    ends = ends || (r.last && r.place.number < 0);
    talk.answered.store(number, std::memory_order_release);
    talk.answered.notify_one();
  } while (!ends);
  return nullptr;
}

// ---- in the thread that asks --------------------------------------------------------------------

// A handler that runs during a request may fork, or ask for a lock itself.
class signals_held {
 public:
  signals_held() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_held() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;

 private:
  sigset_t before_;
};

uint32_t ask(const request& r) noexcept SCUTE_REQUIRES(turn) {
  talk.now = r;
  const uint32_t number = talk.asked.load(std::memory_order_relaxed) + 1;
  talk.asked.store(number, std::memory_order_release);
  talk.asked.notify_one();
  return number;
}

kept_place answer(uint32_t number) noexcept SCUTE_REQUIRES(turn) {
  for (uint32_t seen = 0; (seen = talk.answered.load(std::memory_order_acquire)) != number;)
    talk.answered.wait(seen, std::memory_order_acquire);
  return talk.now.place;
}

// LOCK-5
void begin() noexcept SCUTE_REQUIRES(turn) {
  const uint64_t me = this_process();
  if (mine.process == me) return;
  mine.parent_had_one = mine.parent_had_one || mine.locks != 0;
  mine.process = me;
  mine.locks = 0;
  mine.has_no_table = false;
  talk.asked.store(0, std::memory_order_relaxed);
  talk.answered.store(0, std::memory_order_relaxed);
}

// Starts the thread for the request that has been made.
bool start() noexcept SCUTE_REQUIRES(turn) {
  pthread_attr_t small;
  if (::pthread_attr_init(&small) != 0) return false;
  ::pthread_attr_setstacksize(&small, stack_size);
  int e = ::pthread_create(&mine.thread, &small, &keep_locks, nullptr);
  ::pthread_attr_destroy(&small);
  // The thread-local data of the program may need a larger stack.
  if (e == EINVAL) e = ::pthread_create(&mine.thread, nullptr, &keep_locks, nullptr);
  return e == 0;
}

}  // namespace

kept_place lock_by_thread(int fd, const lock_request& wanted) noexcept {
  const uncancelled now;
  const signals_held held;
  const locked hold(turn);
  begin();
  if (mine.has_no_table || (&__tsan_init != nullptr && mine.parent_had_one)) return {};
  const bool first = mine.locks == 0;
  const uint32_t number = ask({::gettid(), fd, wanted, first, {}});
  if (first && !start()) {
    talk.answered.store(number, std::memory_order_relaxed);
    return {};
  }
  const kept_place place = answer(number);
  if (place.number >= 0) ++mine.locks;
  if (mine.locks == 0) ::pthread_join(mine.thread, nullptr);
  mine.has_no_table = talk.whose.load(std::memory_order_relaxed) == table::programs;
  return place;
}

void unlock_by_thread(int number, const lock_request& wanted) noexcept {
  const uncancelled now;
  const signals_held held;
  const locked hold(turn);
  begin();
  answer(ask({0, number, wanted, --mine.locks == 0, {}}));
  if (mine.locks == 0) ::pthread_join(mine.thread, nullptr);
}

bool lock_thread_exists() noexcept {
  const locked hold(turn);
  begin();
  return mine.locks != 0;
}

}  // namespace scute::core

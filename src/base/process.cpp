// SPDX-License-Identifier: BSD-3-Clause
#include "base/process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/failure.hpp"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace scute::core {

constinit process_page this_process_page;

namespace {

// As many pools as may be open (mend/fault_handler.cpp), and some that are being opened.
constexpr size_t descriptors_max = 1280;

constinit std::array<std::atomic<int>, descriptors_max> descriptors{};  // + 1; 0: the place is free
constinit std::atomic<uint64_t> numbers_taken{0};
constinit std::atomic<bool> prepared{false};
constinit process_mutex tables;
constinit uint64_t tables_process = 0;  // whose the descriptors are; process_mutex::lock() knows

void before_fork() noexcept SCUTE_ACQUIRE(tables) {
  tables.lock();
}
void after_fork_in_parent() noexcept SCUTE_RELEASE(tables) {
  tables.unlock();
}
void after_fork_in_child() noexcept SCUTE_RELEASE(tables) {
  this_process_page.number.store(0, std::memory_order_relaxed);
  for (auto& place : descriptors) {
    const int fd = place.exchange(0, std::memory_order_relaxed) - 1;
    if (fd >= 0) ::close(fd);
  }
  tables.unlock();
}

// Once for a process and all that descend from it.
void prepare() noexcept {
  // Without it PROC-1 rests on the fork handler.
  ::madvise(&this_process_page, sizeof this_process_page, MADV_WIPEONFORK);
  // It fails for want of memory only; children have no mapping all the same (PROC-2).
  ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  prepared.store(true, std::memory_order_release);
}

void prepare_once() noexcept {
  if (prepared.load(std::memory_order_acquire)) return;
  static const bool done = [] {
    if (!prepared.load(std::memory_order_acquire)) prepare();
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

uint64_t begin_process() noexcept {
  prepare_once();
  // Taken before it is shown: a child that is made in between must not get the same.
  uint64_t number = numbers_taken.fetch_add(1, std::memory_order_relaxed) + 1, seen = 0;
  return this_process_page.number.compare_exchange_strong(seen, number, std::memory_order_relaxed)
             ? number
             : seen;
}

void process_mutex::lock() noexcept {
  const uint64_t me = this_process();
  for (uint64_t seen = 0; !holder_.compare_exchange_weak(seen, me, std::memory_order_acquire);) {
    // PROC-5: what another process's thread holds here, nobody holds.
    if (seen == me) {
      holder_.wait(seen, std::memory_order_relaxed);
      seen = 0;
    }
  }
  if (tables_process == me) return;
  // The numbers may be those of other files by now, so nothing is closed.
  for (auto& place : descriptors) place.store(0, std::memory_order_relaxed);
  tables_process = me;
}

void process_mutex::unlock() noexcept {
  holder_.store(0, std::memory_order_release);
  holder_.notify_one();
}

process_mutex& process_tables() noexcept {
  prepare_once();
  return tables;
}

namespace {

int registered(int fd) SCUTE_REQUIRES(process_tables()) {
  if (fd < 0) return fd;
  for (auto& place : descriptors) {
    int free = 0;
    if (place.compare_exchange_strong(free, fd + 1, std::memory_order_relaxed)) return fd;
  }
  ::close(fd);
  throw failure(SCUTE_E_UNSUPPORTED, "more than " + std::to_string(descriptors_max) +
                                         " pools are open in this process; close some first");
}

int duplicate_above_standard(int fd) noexcept {
  return ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

}  // namespace

int open_registered(const char* path, int flags, unsigned mode) {
  const locked hold(process_tables());
  int fd = ::open(path, flags, mode);
  if (fd >= 0 && fd <= STDERR_FILENO) {
    const int low = fd;
    fd = duplicate_above_standard(low);
    const int keep = errno;
    ::close(low);
    errno = keep;
  }
  return registered(fd);
}

int duplicate_registered(int fd) {
  const locked hold(process_tables());
  return registered(duplicate_above_standard(fd));
}

void close_registered(int fd) noexcept {
  const locked hold(process_tables());
  for (auto& place : descriptors) {
    int mine = fd + 1;
    if (place.compare_exchange_strong(mine, 0, std::memory_order_relaxed)) break;
  }
  ::close(fd);
}

void withhold_from_children(void* at, uint64_t n) {
  if (::madvise(at, n, MADV_DONTFORK) != 0)
    throw_errno("keep the mapping of a pool from child processes", errno);
}

}  // namespace scute::core

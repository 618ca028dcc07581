// SPDX-License-Identifier: BSD-3-Clause
#include "base/process/process.hpp"

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

// As many as pools may be open (core/repair/fault_handler.cpp), and some for pools that are being
// opened.
constexpr size_t descriptors_max = 1280;

struct registered_descriptor {
  int number = -1;  // the place is free
  which_file file;
};
constinit std::atomic<uint64_t> numbers_taken{0};
constinit std::atomic<bool> prepared{false};
constinit process_mutex tables;
constinit std::array<registered_descriptor, descriptors_max> descriptors SCUTE_GUARDED_BY(tables){};
constinit uint64_t tables_process SCUTE_GUARDED_BY(tables) = 0;  // the process of the descriptors

// PROC-6. Becomes true under `tables`, so it is the same before and after a fork that has them.
constinit std::atomic<bool> forks_are_free{false};
constinit std::atomic<pthread_t> forking{};

void before_fork() noexcept SCUTE_NO_LOCK_ANALYSIS {
  if (forks_are_free.load()) return;
  tables.lock();
  if (forks_are_free.load())
    tables.unlock();
  else
    forking.store(::pthread_self());
}
void after_fork_in_parent() noexcept SCUTE_NO_LOCK_ANALYSIS {
  if (forks_are_free.load()) return;
  forking.store(pthread_t{});
  tables.unlock();
}
void after_fork_in_child() noexcept SCUTE_NO_LOCK_ANALYSIS {
  this_process_page.number.store(0, std::memory_order_relaxed);
  if (forks_are_free.load()) return;
  forking.store(pthread_t{});
  for (auto& place : descriptors) {
    if (place.number >= 0 && file_of(place.number) == place.file)
      ::close(place.number);  // NUMBER-2
    place.number = -1;
  }
  tables.unlock();
}

// PROC-6. A fork handler of the program that calls exit() does not wait for itself.
[[gnu::destructor]] void let_forks_go() noexcept {
  if (!prepared.load() || forking.load() == ::pthread_self()) return;
  const locked hold(tables);
  forks_are_free.store(true);
}

// Runs once for a process and all its descendants.
void prepare() noexcept {
  // Without it PROC-1 rests on the fork handler.
  ::madvise(&this_process_page, sizeof this_process_page, MADV_WIPEONFORK);
  // It fails only for want of memory. Children have no mapping even then (PROC-2).
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
  // Taken before it is published: a child that is made in between must not get the same number.
  uint64_t number = numbers_taken.fetch_add(1, std::memory_order_relaxed) + 1, seen = 0;
  return this_process_page.number.compare_exchange_strong(seen, number, std::memory_order_relaxed)
             ? number
             : seen;
}

void process_mutex::lock() noexcept {
  const uint64_t me = this_process();
  for (uint64_t seen = 0; !holder_.compare_exchange_weak(seen, me, std::memory_order_acquire);) {
    // PROC-5: if a thread of another process holds it here, no thread of this process does.
    if (seen == me) {
      holder_.wait(seen, std::memory_order_relaxed);
      seen = 0;
    }
  }
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

// PROC-5: another process's numbers may refer to other files by now, so nothing is closed.
void begin_descriptors() noexcept SCUTE_REQUIRES(tables) {
  const uint64_t me = this_process();
  if (tables_process == me) return;
  for (auto& place : descriptors) place.number = -1;
  tables_process = me;
}

int registered(int fd) SCUTE_REQUIRES(tables) {
  if (fd < 0) return fd;
  begin_descriptors();
  for (auto& place : descriptors) {
    if (place.number >= 0) continue;
    place = {fd, file_of(fd)};
    return fd;
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
  prepare_once();
  const locked hold(tables);
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
  prepare_once();
  const locked hold(tables);
  return registered(duplicate_above_standard(fd));
}

void close_registered(int fd, const which_file& of) noexcept {
  prepare_once();
  const locked hold(tables);
  begin_descriptors();
  for (auto& place : descriptors) {
    if (place.number != fd || place.file != of) continue;
    place.number = -1;
    break;
  }
  if (file_of(fd) == of) ::close(fd);
}

void withhold_from_children(void* at, uint64_t n) {
  if (::madvise(at, n, MADV_DONTFORK) != 0)
    throw_errno("keep the mapping of a pool from child processes", errno);
}

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
// A file FILE whose permissions were removed when it was shielded (`scute shield add --guard`), and
// the moment in which its owner may open it nevertheless.
//
// GUARDED-2 FILE gets permissions for one open() only, those that the open() needs and only for its
//    owner. They are removed again however the open() ends; signals and pthread_cancel() wait
//    meanwhile. A process that gives or removes them takes the guard_lock before it reads them. A
//    process that finds FILE with permissions, or without FILE.scute, changes nothing.
//
// So an opener of FILE waits for other openers, and for a process that restores the permissions
// permanently (MAKE-3), and none undoes another's change. A kill in that moment leaves the
// permissions: the next session that writes removes them.
#pragma once

#include <csignal>

#include "base/process/uncancelled.hpp"

namespace scute::core {

// A lock of FILE.scute by flock(). No other code locks it so, and a process that may only read
// FILE.scute can have it. It is held for moments, and no holder waits for another lock.
class guard_lock {
 public:
  guard_lock() = default;
  ~guard_lock();
  guard_lock(const guard_lock&) = delete;
  guard_lock& operator=(const guard_lock&) = delete;

  // Returns 0, or an errno. ENOENT: there is no FILE.scute; EBUSY: another process has had it for
  // seconds.
  int take(const char* sidecar) noexcept;
  bool is_taken() const noexcept { return fd_ >= 0; }
  // The descriptor of FILE.scute; -1: not taken.
  int fd() const noexcept { return fd_; }

 private:
  int try_take(const char* sidecar) noexcept;
  int fd_ = -1;
};

// While one lives FILE may be opened by name(), with these flags, if it may be opened at all.
class given_permissions {
 public:
  // file: FILE, opened with O_PATH. recorded: the permissions that were removed (GUARDED-1).
  given_permissions(const guard_lock& alone, int file, unsigned recorded, int flags) noexcept;
  ~given_permissions();  // keeps errno
  given_permissions(const given_permissions&) = delete;
  given_permissions& operator=(const given_permissions&) = delete;

  explicit operator bool() const noexcept { return may_try_; }
  const char* name() const noexcept { return name_; }

 private:
  uncancelled now_;
  sigset_t before_;
  char name_[40];
  bool may_try_ = false, given_ = false;
};

// The permission bits of one class of users (4: to read, 2: to write) that open() with these flags
// needs.
unsigned needed_to_open(int flags) noexcept;

}  // namespace scute::core

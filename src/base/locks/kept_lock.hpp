// SPDX-License-Identifier: BSD-3-Clause
// A lock on bytes of a file, against every other open file of it, in this process or another
// (base/locks/lock_thread.hpp).
#pragma once

#include <cstdint>
#include <utility>

#include "base/locks/lock_request.hpp"
#include "base/process/which_file.hpp"

namespace scute::core {

class kept_lock {
 public:
  kept_lock() = default;
  ~kept_lock() { release(); }
  kept_lock(kept_lock&& other) noexcept { swap(other); }
  kept_lock& operator=(kept_lock&& other) noexcept {
    swap(other);
    return *this;
  }

  // Locks the file of fd, which the caller may close afterwards. Does not wait. Returns 0, or an
  // errno; EBUSY: another opening has the lock; ENOLCK: its file system keeps no locks.
  int take(int fd, const lock_request& wanted) noexcept;
  // In another process than the one that took the lock nothing happens.
  void release() noexcept;
  bool is_taken() const noexcept { return number_ >= 0; }

 private:
  void swap(kept_lock& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(by_thread_, other.by_thread_);
    std::swap(process_, other.process_);
    std::swap(file_, other.file_);
    std::swap(wanted_, other.wanted_);
  }
  int take_here(int fd) noexcept;

  int number_ = -1;
  bool by_thread_ =
      false;  // the number is one of its thread's descriptors, else of a registered one (LOCK-3)
  uint64_t process_ = 0;
  which_file file_;
  lock_request wanted_;
};

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
#include "base/locks/kept_lock.hpp"

#include <cerrno>
#include <exception>

#include "base/locks/lock_thread.hpp"
#include "base/process/process.hpp"

namespace scute::core {

int kept_lock::take(int fd, const lock_request& wanted) noexcept {
  release();
  wanted_ = wanted;
  process_ = this_process();
  const kept_place place = lock_by_thread(fd, wanted);
  by_thread_ = place.way;
  number_ = place.number;
  return place.way ? place.error : take_here(fd);
}

// LOCK-3
int kept_lock::take_here(int fd) noexcept {
  int own = -1;
  try {
    own = duplicate_registered(fd);
  } catch (const std::exception&) {
    errno = EMFILE;
  }
  if (own < 0) return errno;
  file_ = file_of(own);
  const int e = take_kept(own, wanted_, false);
  if (e == 0)
    number_ = own;
  else
    close_registered(own, file_);
  return e;
}

void kept_lock::release() noexcept {
  const int number = std::exchange(number_, -1);
  if (number < 0 || process_ != this_process()) return;
  const int keep = errno;
  if (by_thread_) {
    unlock_by_thread(number, wanted_);
  } else {
    if (file_of(number) == file_) unlock(number, wanted_);
    close_registered(number, file_);
  }
  errno = keep;
}

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
// The number of a descriptor of the library, kept for later calls. It owns nothing.
//
// NUMBER-1 The program may close any descriptor, and open a file of its own that gets the number.
//    So before each system call a stored number is compared with the file that was opened. If it is
//    another file, the call gets -1 and fails with EBADF, and no foreign file is touched.
// NUMBER-2 Such a number is not closed either, here or in a child: it is the program's.
//
// Accesses to memory need no descriptor; they cost nothing more and continue.
#pragma once

#include "base/process/which_file.hpp"

namespace scute::core {

class kept_number {
 public:
  constexpr kept_number() noexcept = default;
  explicit kept_number(int fd) noexcept : fd_(fd), file_(fd >= 0 ? file_of(fd) : which_file{}) {}

  // NUMBER-1: for one system call; -1 if there is none, or the program has closed it.
  // Async-signal-safe; keeps errno.
  int get() const noexcept { return fd_ >= 0 && file_of(fd_) == file_ ? fd_ : -1; }
  // Whatever file it refers to now; -1: none was kept.
  int number() const noexcept { return fd_; }
  const which_file& file() const noexcept { return file_; }

 private:
  int fd_ = -1;
  which_file file_;
};

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
// File descriptors of the library. All are registered: a child of fork() keeps none
// (base/process/process.hpp, PROC-3).
//
// NUMBER-1 The program may close any descriptor, and open a file of its own that gets the number.
//    So before each system call a stored number is compared with the file that was opened. If it is
//    another file, the call gets -1 and fails with EBADF, and no foreign file is touched.
// NUMBER-2 Such a number is not closed either, here or in a child: it is the program's.
//
// Accesses to memory need no descriptor; they cost nothing more and continue.
#pragma once

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/process/process.hpp"
#include "base/process/which_file.hpp"

namespace scute::core::medium {

// Owns one; -1: none.
class descriptor {
 public:
  explicit descriptor(int fd = -1) noexcept { own(fd); }
  ~descriptor() { reset(); }
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)), file_(other.file_) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(file_, other.file_);
    return *this;
  }

  // NUMBER-1: for one system call. Async-signal-safe; keeps errno.
  int get() const noexcept { return fd_ >= 0 && file_of(fd_) == file_ ? fd_ : -1; }
  int release() noexcept { return std::exchange(fd_, -1); }
  // Keeps errno.
  void reset(int fd = -1) noexcept {
    const int keep = errno;
    if (fd_ >= 0) close_registered(fd_, file_);
    own(fd);
    errno = keep;
  }

 private:
  void own(int fd) noexcept {
    fd_ = fd;
    if (fd >= 0) file_ = file_of(fd);
  }
  int fd_ = -1;
  which_file file_;
};

enum class access : uint8_t { read, write };  // readers share the lock

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
// The file that a descriptor refers to. A program that closes all descriptors (a daemon's start,
// closefrom()) closes those of this library too, and the next files that it opens get their
// numbers.
#pragma once

#include <sys/types.h>

namespace scute::core {

struct which_file {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const which_file&) const = default;
};

// Asks only this machine, whatever the file system. Returns zeros if it is no descriptor.
// Async-signal-safe; keeps errno.
which_file file_of(int fd) noexcept;

}  // namespace scute::core

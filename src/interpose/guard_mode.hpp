// SPDX-License-Identifier: BSD-3-Clause
// A shielded file whose permissions were taken away (`scute shield add --guard`), and which a
// program of its owner's opens.
//
// GUARDED-1 Under the shield it is opened as if it had the permissions that FILE.scute has
//    recorded: by its owner, to do what these let its owner do. FILE.scute has to be the owner's,
//    or root's, and FILE the file that has its name. Everybody else is refused as before, and so is
//    any other file. How the permissions are given for that moment says GUARDED-2.
#pragma once

#include <optional>

#include "base/open_guarded.hpp"

namespace scute::core::interpose {

// While one lives, in a critical section, what the program could not open (EACCES) may be opened by
// name(), if it is such a file.
class guard_mode {
 public:
  guard_mode(int at, const char* path, int flags) noexcept;
  ~guard_mode();
  guard_mode(const guard_mode&) = delete;
  guard_mode& operator=(const guard_mode&) = delete;

  // False with errno: it is none.
  explicit operator bool() const noexcept { return given_ && *given_; }
  const char* name() const noexcept { return given_->name(); }

 private:
  void give(const char* path, int flags) noexcept;

  int file_ = -1;  // by O_PATH
  guard_lock alone_;
  std::optional<given_permissions> given_;
};

// open() of it again. -1 with errno. In a critical section.
int open_guarded_here(int at, const char* path, int flags) noexcept;
// The same, and not in one. After an open() that has failed; EACCES or not.
int open_guarded(int at, const char* path, int flags) noexcept;

}  // namespace scute::core::interpose

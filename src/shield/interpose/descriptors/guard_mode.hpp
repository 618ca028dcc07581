// SPDX-License-Identifier: BSD-3-Clause
// Opens a shielded file whose permissions were taken away (`scute shield add --guard`), for a
// program of its owner.
//
// GUARDED-1 Under the shield the file is opened as if it had the permissions recorded in
//    FILE.scute: by its owner, with the owner's rights. FILE.scute must be owned by the owner or
//    root, and FILE must be the file of that name. All other users, and any other file, are refused
//    as before.
//
// The rule GUARDED-2 says how the permissions are given for that moment.
#pragma once

#include <optional>

#include "base/process/open_guarded.hpp"

namespace scute::core::interpose {

// While an object lives, in a critical section, a file that the program could not open (EACCES) can
// be opened by name(), if it is such a file.
class guard_mode {
 public:
  guard_mode(int at, const char* path, int flags) noexcept;
  ~guard_mode();
  guard_mode(const guard_mode&) = delete;
  guard_mode& operator=(const guard_mode&) = delete;

  // False with errno: it is not such a file.
  explicit operator bool() const noexcept { return given_ && *given_; }
  const char* name() const noexcept { return given_->name(); }

 private:
  void give(const char* path, int flags) noexcept;

  int file_ = -1;  // by O_PATH
  guard_lock alone_;
  std::optional<given_permissions> given_;
};

// Opens it again. Returns -1 with errno. In a critical section.
int open_guarded_here(int at, const char* path, int flags) noexcept;
// The same outside of a critical section, after an open() that has failed with any error.
int open_guarded(int at, const char* path, int flags) noexcept;

}  // namespace scute::core::interpose

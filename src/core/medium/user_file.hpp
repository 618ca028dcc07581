// SPDX-License-Identifier: BSD-3-Clause
// The file of a program that a foreign pool protects, next to
// the pool's own file: FILE, and FILE.scute.
//
// USER-1 The program owns the locks of FILE. FILE is never locked here, and its descriptor stays
//    open as long as the pool: closing one would end the locks that this process has on FILE.
// USER-2 The evidence of a foreign change of FILE (inode, size, times) is read by a descriptor, not
//        by name.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "core/file/descriptor.hpp"
#include "core/medium/medium.hpp"

namespace scute::core::medium {

inline constexpr const char* sidecar_suffix = ".scute";
// FILE.scute for FILE at the end of symbolic links; and the inverse, empty if the name has no such
// suffix.
std::string sidecar_of(const std::string& file);
std::string user_file_of(const std::string& sidecar);

struct file_identity {
  uint64_t inode = 0, size = 0, mtime_ns = 0, ctime_ns = 0;

  bool operator==(const file_identity&) const = default;
};
file_identity identity_of(const struct stat& st) noexcept;

class user_file {
 public:
  virtual ~user_file() = default;
  user_file(const user_file&) = delete;
  user_file& operator=(const user_file&) = delete;

  virtual const std::string& path() const noexcept = 0;
  virtual file_identity look() const = 0;
  // Its first `size` bytes become parts of the pool's medium.
  virtual void join(medium& m, const segments& where, uint64_t size, medium::sharing how) const = 0;
  // Makes it longer, by zeros that have blocks; durable on return. Throws SCUTE_E_NOSPC with
  // nothing changed.
  virtual void grow(uint64_t size) = 0;
  // Reserves room for that length, as far as the file system can promise it and the process may
  // have files of that length; nothing else changes. Throws SCUTE_E_NOSPC.
  virtual void reserve(uint64_t size) = 0;
  // Its permission bits.
  virtual unsigned mode() const = 0;
  virtual void set_mode(unsigned bits) = 0;

 protected:
  user_file() = default;
};

// mode: the permissions that the file had before they were taken away, for its owner (GUARDED-2);
// 0: they were not. Throws SCUTE_E_NOENT, SCUTE_E_BUSY, SCUTE_E_READONLY; SCUTE_E_FORMAT if it is
// no regular file.
std::unique_ptr<user_file> open_user_file(const std::string& path, access how, unsigned mode);

// The file's identity, as evidence of changes from now on: read at a moment later than its times,
// by the clock that they are taken from. (If the file changes all the time: at some moment.) Throws
// failure.
file_identity look_when_still(const user_file& file);

// Throws SCUTE_E_BUSY if a process has locked the file, or may write to it by a descriptor or
// mapping of another process, as far as the system shows.
void require_unused(const std::string& path);

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
// A pool file while it is being made.
//
// FILE-1 At a pool's path there is a complete pool, or what was there before. The file gets the
//    path as its name when it is complete: publish() makes its bytes durable, then its name, and
//    then returns.
// FILE-2 Until then it has no name, and vanishes with the process that makes it. If the file system
//    has no unnamed files, and from the end of a replacement's making to its rename, it has the
//    name temporary_name(path).
// FILE-3 The maker locks it before another process can take it for a leftover, or notices and
//    begins again: a lockable file of the temporary name has no maker. The next creation or opening
//    at this path removes it, under its lock, if it is unfinished and still has that name (OURS-2,
//    OURS-4).
// FILE-4 A replacement replaces the file at the end of symbolic links, and the links stay: a user
//    has made them so that the pool lies elsewhere. temporary_name() is then that of this file. A
//    link that leads nowhere is neither followed nor replaced.
// FILE-5 A file that replaces or protects another one gets that one's user, group and permission
//    bits before it has any name: otherwise that user's programs could not open it. If the process
//    cannot set them, the file is not made.
// FILE-6 A process that opens the file by its new name finds it locked. Some file systems in user
//    space treat each name of a file as a file of its own, with its own locks. There a rename gives
//    the name, and the file stays locked.
// FILE-7 The caller of a replacement has the old file locked until the new one has its name, and
//    what belongs to it. A process that had opened the old file before, and locks it after, finds
//    that it has no name any more.
//
// About FILE-3: a file that cannot be locked is left alone. So is one that is not unfinished, such
// as a user's copy of a pool. A creation that needs its name is refused.
//
// A crash leaves these files at path and temporary_name(path); the next step follows:
//
//   in the making          as before, nothing (FILE-2: or the unfinished file, FILE-3 removes it)
//   replacement complete   the old pool, the complete new one with its mark: FILE-3 removes it
//   published              the new pool, perhaps with its mark, nothing. After a power failure
//                          before publish() returned it may be the state before; either is a
//                          complete pool
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/file/descriptor.hpp"
#include "core/file/file_handle.hpp"
#include "core/file/ownership.hpp"
#include "scute/errors.h"

namespace scute::core::medium {

class new_file {
 public:
  // Makes the file that will be at path, empty and locked. With replace, it will replace the file
  // there; without, no file may be there: SCUTE_E_EXISTS. SCUTE_E_BUSY if another process is making
  // the same one under its temporary name.
  new_file(std::string path, const ownership& as, bool replace);
  ~new_file();  // removes an unpublished file
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  // Opens the same file again, with the same lock, and makes it `size` bytes long: whole pages.
  file_handle open(uint64_t size);

  // Gives the file its name. If this throws, nothing has changed at path; except that if a
  // replacement's name, or the end of its mark, could not be made durable (SCUTE_E_IO), path is
  // already the new file.
  void publish();

 private:
  void make_named(unsigned mode);
  void drop_temporary() noexcept;
  void give_name();
  bool is_locked_by_name() const;
  void sync_folder() const;

  std::string path_;
  std::string temporary_;  // empty: it does not have that name
  bool replace_;
  std::optional<uint64_t> marked_;  // its size without the mark (OURS-4)
  descriptor folder_, file_;
  std::shared_ptr<kept_lock> lock_;
};

// The temporary name of the file that will be at path.
std::string temporary_name(const std::string& path);

// The file that path stands for (FILE-4): path itself if it is no symbolic link, or one that leads
// nowhere.
std::string followed(const std::string& path);

// Whether path is a symbolic link that leads to no file.
bool leads_nowhere(const std::string& path);
// Throws an error for such a link. Keeps errno.
[[noreturn]] void refuse_dangling(scute_error code, const std::string& path);

// Removes what a dead process has left at temporary_name(path).
void remove_leftover(const std::string& path) noexcept;

}  // namespace scute::core::medium

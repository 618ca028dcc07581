// SPDX-License-Identifier: BSD-3-Clause
// A pool file in the making.
//
// FILE-1 What is at a pool's path is a whole pool, or what was there before. The file gets the path
//    as its name when it is one: publish() makes its bytes durable, then its name, then says so.
// FILE-2 Until then it has no name at all and goes with the process that makes it, however that
//    ends. Where a file system has no files without names, and from the end of a replacement's
//    making to its rename, it has the name temporary_name(path).
// FILE-3 Its lock is taken before another process can take it for left over, or the maker notices
//    and begins again: a file of the temporary name that can be locked is one whose maker is gone.
//    The next creation at this path, or the next opening of it, removes it, holding its lock, if it
//    is ours and has that name still (OURS-1, OURS-2). One that cannot be locked is left alone, and
//    so is a foreign one; a creation that needs its name is refused.
// FILE-4 A replacement replaces the file at the end of symbolic links, and the links stay: a user
//    has made them so that the pool lies elsewhere. temporary_name() is that of this file then. A
//    link that leads nowhere is neither followed nor replaced.
// FILE-5 A file that replaces another one, or that protects it, has the user, group and permission
//    bits of that one before it has any name: else the programs of that user could not open it.
//    Where the process may not give it those it is not made.
// FILE-6 A process that opens the file by its new name finds it locked. Some file systems in user
//    space take each name of a file for a file of its own, with locks of its own: there, the name
//    is given by a rename, whose file stays the one that is locked.
//
// The files that a crash leaves at path and at temporary_name(path), and the next step:
//    in the making          as before, nothing (FILE-2: or the unfinished file, which FILE-3 removes)
//    replacement is whole   the old pool, the whole new one: FILE-3 removes it
//    published              the new pool, nothing. After a power failure before publish() has returned
//                           it may be the state before; either is a whole pool
#pragma once

#include <memory>
#include <string>

#include "medium/descriptor.hpp"
#include "medium/file_handle.hpp"
#include "medium/ownership.hpp"
#include "scute/errors.h"

namespace scute::core::medium {

class new_file {
 public:
  // The file that is to be at path, empty and locked. With replace, what is there is going to be
  // replaced; without, nothing may be there: SCUTE_E_EXISTS. SCUTE_E_BUSY if another process makes
  // the same one under its temporary name.
  new_file(std::string path, const ownership& as, bool replace);
  ~new_file();  // an unpublished file is gone
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  // The same file again, with the same lock, made `size` bytes long.
  file_handle open(uint64_t size) const;

  // Gives the file its name. When this throws, nothing has changed at path; only if a replacement's
  // name could not be made durable (SCUTE_E_IO), path is the new file already.
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
  descriptor folder_, file_;
  std::shared_ptr<kept_lock> lock_;
};

// Of the file that is going to be at path.
std::string temporary_name(const std::string& path);

// The file that is meant by path (FILE-4): path itself if that is no symbolic link, or one that
// leads nowhere.
std::string followed(const std::string& path);

// There is a symbolic link at path, and it leads to no file.
bool leads_nowhere(const std::string& path);
// Says so, whatever was going to be done there. Keeps errno.
[[noreturn]] void refuse_dangling(scute_error code, const std::string& path);

// Removes what a dead process has left at temporary_name(path).
void remove_leftover(const std::string& path) noexcept;

}  // namespace scute::core::medium

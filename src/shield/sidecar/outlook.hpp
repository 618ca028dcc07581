// SPDX-License-Identifier: BSD-3-Clause
// The state in which the next opening of a shielded file would find it, seen from outside: nothing
// is opened for writing, locked or recovered, so a process that is using the file does not notice.
//
// OUTLOOK-1 The answer equals that of instance::find_user_file() (IDENT-1 to IDENT-3), as far as
//    the superblock and the file's inode, size and times allow.
// OUTLOOK-2 Every call that is given FILE reports a FILE.scute that does not protect FILE (a pool
//    of its own, no pool, a folder, a pipe, a symbolic link to nowhere or to another file's
//    protection). It does so before it opens any of it for writing, locks or recovers it. Both
//    files stay as they are.
#pragma once

#include <string>

#include "core/layout/format.hpp"
#include "core/medium/user_file.hpp"
#include "scute/scute.h"

namespace scute::core::shield {

struct outlook {
  scute_shield_condition condition = SCUTE_SHIELD_CLEAN;
  std::string file;  // at the end of symbolic links
  format::superblock sb;
  medium::file_identity now;  // of the file; all 0 if there is none
};

// Throws SCUTE_E_NOENT: there is no sidecar; SCUTE_E_INVALID: it is a pool of its own, or protects
// another file; SCUTE_E_FORMAT and so on: it is no pool, or its superblock is unusable.
outlook look(const std::string& file);

// The path of the pool that protects a file. Throws SCUTE_E_NOENT: there is none; SCUTE_E_FORMAT:
// it is no pool; `other`: it does not protect the file. Its opening reports damage (OUTLOOK-2).
std::string protection_of(const std::string& file, scute_error other = SCUTE_E_INVALID);

}  // namespace scute::core::shield

// SPDX-License-Identifier: BSD-3-Clause
// The state in which the next opening of a shielded file
// would find it, seen from outside: nothing is opened for writing, locked or recovered, so a
// process that uses the file at this moment does not notice.
//
// OUTLOOK-1 The answer is that of instance::find_user_file() (IDENT-1 to IDENT-3), as far as the
//    superblock and the file's inode, size and times tell it.
// OUTLOOK-2 What has the name FILE.scute and does not protect FILE (a pool of its own, no pool, a
//    folder, a pipe, a symbolic link to nowhere or to the protection of another file) is reported
//    by every call that is given FILE, before anything of it is opened for writing, locked or
//    recovered. It stays as it is, and so does FILE.
#pragma once

#include <string>

#include "medium/user_file.hpp"
#include "pool/format.hpp"
#include "scute/scute.h"

namespace scute::core::shield {

struct outlook {
  scute_shield_condition condition = SCUTE_SHIELD_CLEAN;
  std::string file;  // at the end of symbolic links
  format::superblock sb;
  medium::file_identity now;  // of the file; all 0 if there is none
};

// Throws SCUTE_E_NOENT: there is no sidecar; SCUTE_E_INVALID: it is a pool of its own, or protects
// another file; SCUTE_E_FORMAT and so on: it is none, or its superblock cannot be used.
outlook look(const std::string& file);

// The path of what protects a file. Throws SCUTE_E_NOENT: there is nothing; SCUTE_E_FORMAT: it is
// no pool; other: it is one that does not protect the file. Its opening reports damage (OUTLOOK-2).
std::string protection_of(const std::string& file, scute_error other = SCUTE_E_INVALID);

}  // namespace scute::core::shield

// SPDX-License-Identifier: BSD-3-Clause
// What the next opening of a shielded file would meet, told from outside: nothing is opened for writing, locked or recovered, so
// whoever has the file in use at this moment does not notice.
//
// OUTLOOK-1 The answer is that of instance::find_user_file() (IDENT-1 to IDENT-3), as far as the superblock and the file's inode, size
//    and times tell it.
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

// Throws SCUTE_E_NOENT: there is no sidecar; SCUTE_E_INVALID: it is a pool of its own; SCUTE_E_FORMAT and so on: it is none, or
// its superblock cannot be used.
outlook look(const std::string& file);

}  // namespace scute::core::shield

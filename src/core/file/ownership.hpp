// SPDX-License-Identifier: BSD-3-Clause
// The user and group a file belongs to, and its permission bits.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

namespace scute::core::medium {

struct ownership {
  // Of the process that makes the file; its umask applies. Implicit, since most files are made so.
  ownership(unsigned bits) : mode(bits) {}  // NOLINT(google-explicit-constructor)
  // The same user and group as another file, and these of its permission bits, whatever the umask
  // is.
  ownership(const struct stat& other, unsigned bits)
      : mode(bits), kept(true), user(other.st_uid), group(other.st_gid) {}

  unsigned mode;
  bool kept = false;
  bool required = true;  // otherwise give_ownership() does what it can
  uid_t user = 0;
  gid_t group = 0;
};

// Gives them to the open file, before it has a name. path: for messages. Throws failure if the file
// cannot have that user or group and that is required.
void give_ownership(int fd, const ownership& as, const std::string& path);

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
// A file comes under the shield, stays there although somebody has changed it, and leaves it.
//
// MAKE-1 What is at FILE.scute is a whole pool of FILE, or what was there before (FILE-1 in
//    medium/new_file.hpp): whoever is killed in the middle has changed nothing.
// MAKE-2 FILE is only read. It is compared before and after by inode, size and times, and nothing
//    is stored to it, although it is mapped.
// MAKE-3 FILE.scute goes when FILE has all that was committed, durably, and its permissions.
// MAKE-4 What is damaged is repaired before that, as long as there is something to repair it with;
//    FILE stays under the shield if something is lost. (Found by an attack from outside.)
// MAKE-5 Who opened FILE before FILE.scute was there is not under the shield, and who opens it
//    later looks for that. So when it is there FILE is looked at once more, before anybody can open
//    the pool: if somebody has FILE open for writing, or it has changed, FILE.scute goes again.
//    (Found by an attack from outside.)
#pragma once

#include <string>

#include "scute/scute.h"

namespace scute::core::shield {

struct making {
  uint64_t capacity = 0;  // 0: a quarter more than the file has
  bool guard = false;
};

// options: those of a new pool, but for its size.
void add(const std::string& file, const scute_options& options, const making& how);
// keep: options and capacity are those that the pool has now, if that can be told.
void adopt(const std::string& file, const scute_options& options, const making& how, bool keep);
void remove(const std::string& file, const scute_options& options);

}  // namespace scute::core::shield

// SPDX-License-Identifier: BSD-3-Clause
// A file comes under the shield, stays there although another
// program has changed it, and leaves it.
//
// MAKE-1 The file at FILE.scute is a whole pool of FILE, or the previous file (FILE-1 in
//        medium/new_file.hpp): a process that is killed in the middle has changed nothing.
// MAKE-2 FILE is only read. It is compared before and after by inode, size and times, and nothing
//    is stored to it, although it is mapped.
// MAKE-3 FILE.scute goes when FILE has all that was committed, durably, and its permissions.
// MAKE-4 What is damaged is repaired before that, as long as there is something to repair it with;
//    FILE stays under the shield if something is lost. (Found by an attack from outside.)
// MAKE-5 A program that opened FILE before FILE.scute existed is not under the shield, and later
//    openers look for FILE.scute. So once it exists FILE is examined again, before any process can
//    open the pool. If a process has FILE open for writing, or it has changed, FILE.scute is
//    removed. (Found by an attack from outside.)
#pragma once

#include <string>

#include "scute/scute.h"

namespace scute::core::shield {

struct making {
  uint64_t capacity = 0;  // 0: a quarter more than the file has
  bool guard = false;
};

// options: those of a new pool, except for its size.
void add(const std::string& file, const scute_options& options, const making& how);
// keep: options and capacity are those that the pool has now, if they are known.
void adopt(const std::string& file, const scute_options& options, const making& how, bool keep);
void remove(const std::string& file, const scute_options& options);

}  // namespace scute::core::shield

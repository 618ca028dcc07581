// SPDX-License-Identifier: BSD-3-Clause
// Puts a file under the shield, keeps it there although another program has changed it, and removes
// it from the shield.
//
// MAKE-1 The file at FILE.scute is a complete pool of FILE, or the previous file (FILE-1 in
//    core/file/new_file.hpp): a process that is killed in between has changed nothing.
// MAKE-2 FILE is only read. Its inode, size and times are compared before and after. It is mapped,
//    but nothing is stored to it.
// MAKE-3 FILE.scute is removed when FILE durably has everything that was committed, and its
//    permissions.
// MAKE-4 Before that, damage is repaired as far as there is redundancy; FILE stays under the shield
//    if something is lost. (Found by an attack from outside.)
// MAKE-5 A program that opened FILE before FILE.scute existed is not under the shield; later
//    openers look for FILE.scute. So once it exists FILE is examined again, before any process can
//    open the pool. If a process has FILE open for writing, or FILE has changed, FILE.scute is
//    removed.
//
// (MAKE-5, too, was found by an attack from outside.)
#pragma once

#include <string>

#include "scute/scute.h"

namespace scute::core::shield {

struct making {
  uint64_t capacity = 0;  // 0: a quarter more than the file has
  bool guard = false;
};

// options: those of a new pool, without its size.
void add(const std::string& file, const scute_options& options, const making& how);
// keep: the options and the capacity of the existing pool are kept, if they are known.
void adopt(const std::string& file, const scute_options& options, const making& how, bool keep);
void remove(const std::string& file, const scute_options& options);

}  // namespace scute::core::shield

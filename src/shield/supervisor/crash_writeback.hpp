// SPDX-License-Identifier: BSD-3-Clause
// Writes what a dead image has left in a view to the file.
//
// CRASHWB-1 The pool is recovered first; then the flushed lines are committed; then, unless the
//    program died by its own fault, all lines that differ. The file then holds what an unshielded
//    program would have left in it.
// CRASHWB-2 After a fault, or if the user says so, lines that were never flushed are written to
//    FILE.scute-unflushed, and not to the file.
// CRASHWB-3 The kernel may close the connection of an ended image before it releases the pool's
//    lock, which a mapping keeps. So the supervisor waits for the lock.
#pragma once

#include <cstdint>
#include <string>

#include "scute/shield_run.h"
#include "shield/supervisor/image_end.hpp"
#include "shield/supervisor/view_memory.hpp"
#include "shield/view/audit.hpp"

namespace scute::core::supervisor {

struct held_view {
  std::string path;
  uint64_t device = 0, inode = 0;
  int head = -1, bytes = -1;  // memory files
};

// Maps the view's memory; the descriptors stay the view's. Throws failure.
view_memory attached(const held_view& view);

// Writes the view back and fills in the audit, without its file, process and signal. Throws
// failure.
void crash_writeback(const held_view& view, bool keep_unflushed, scute_shield_counts& audit);

void copy_counters(const view::audit_counters& from, scute_shield_counts& to) noexcept;

}  // namespace scute::core::supervisor

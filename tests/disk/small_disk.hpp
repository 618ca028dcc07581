// SPDX-License-Identifier: BSD-3-Clause
// A file system with little room, for programs that map files: needs no privileges, and is stricter
// than a real one. Pages of a file that have no block cannot be accessed through a mapping at all,
// whether there is room or not: a thread that stores to one, or reads one, gets SIGSEGV. Blocks
// come from reservations (posix_fallocate) and from writes (pwrite), which fail with ENOSPC when
// none is left.
//
// The functions of the C library are replaced, in a program that this is linked to, or by
// LD_PRELOAD in any. In the latter case SCUTE_TEST_SMALL_DISK names a file that holds the state,
// for several processes one after the other. A new state is a file of 16 bytes: the number of free
// pages in 8 bytes, and zeros.
#pragma once

#include <cstdint>

namespace scute::test::small_disk {

// From now on files have the blocks that they have at their next use, and `pages` are free.
void begin(uint64_t pages);
// Files are what they are.
void end();

void set_free(uint64_t pages);
// fstatfs() reports the free pages from now on; at first it reports those of the real file system,
// so that a program learns only at a reservation that it is too large.
void report_free();
uint64_t free_pages();

}  // namespace scute::test::small_disk

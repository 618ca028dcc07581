// SPDX-License-Identifier: BSD-3-Clause
// The program's descriptors of shielded files. Each of them
// is a descriptor of the view's bytes under the number that the program got when it opened FILE;
// the kernel's operations on it act on the view.
//
// DESC-1 Every open file of a view has an open file of FILE itself, for locks and for fstat(): as
//    many of these as the program has opened, shared by copies of a descriptor as the kernel would
//    share them; in children of fork() as well.
// DESC-2 A number counts only if it still denotes the view in the kernel: programs that close or
//    replace descriptors by raw system calls change nothing but the number's meaning.
// DESC-3 A child of vfork() that closes or copies descriptors changes nothing in its parent's
//        tables.
// DESC-4 One that comes by other ways than calls that open or copy it (over a socket, by a system
//    call of the program's own) gets its entry when it comes, where we hear that it does
//    (recvmsg(), syscall()), and at the latest when the program maps it or makes something durable
//    by it. One whose number can have no entry keeps nothing open, but makes durable what there is.
#pragma once

#include <cstdint>

namespace scute::core::interpose {

class guarded_file;

// One open() of the program's. Never freed, but used again: a thread that looks at a number that
// another one closes finds something there.
struct opened_file {
  guarded_file* file = nullptr;
  int real = -1;  // of FILE, ours
  int flags = 0;  // of open()
  unsigned references = 0;
  bool of_parent = false;  // in a child of fork()
  opened_file* next_spare = nullptr;
};

// The table's entry, or null. Async-signal-safe; costs a load for numbers that are none of ours.
opened_file* opened_at(int fd) noexcept;

// In a critical section. Takes over `real`; false: no room, errno is set.
bool enter_descriptor(int fd, guarded_file& file, int real, int flags) noexcept;
// `to` becomes a copy of the file of `fd`, which has an entry.
void copy_descriptor(opened_file& from, int to) noexcept;
// The entry of another number of the file's that is the same open file as fd, or null.
opened_file* same_open_file(int fd, const guarded_file& file) noexcept;
bool are_same_open_file(int a, int b) noexcept;
// The file of fd loses a reference; it is notified when nothing is left of the open()
// (guarded_file::leave).
void drop_descriptor(int fd) noexcept;
// In a child of fork(): its numbers have no entries any more, and are of FILE for what DESC-1 says,
// as they were.
void leave_descriptors_to_parent() noexcept;
// The open file of DESC-1, of an entry or a number that a child has of its parent's; null: neither.
// For `real` and nothing else.
opened_file* facts_of(int fd) noexcept;
bool is_noted(int fd) noexcept;  // one of the two, whether the kernel still agrees or not
// True in a child of vfork(): it has its parent's memory, so these tables too, and descriptors of
// its own (DESC-3). Async-signal-safe.
bool is_borrowed() noexcept;
// The tables are this process's.
void own_tables() noexcept;

constexpr int descriptors_max = 1 << 16;
// The table's entry, whether the kernel still agrees or not.
opened_file* entry_of(int fd) noexcept;

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// The program's descriptors of shielded files. Each is a descriptor of the view's bytes under the
// number that the program got when it opened FILE; the kernel's operations on it act on the view.
//
// DESC-1 For every open file of a view there is an open file of FILE itself, for locks and for
//    fstat(): as many as the program has opened, shared by copies of a descriptor as the kernel
//    would share them, also in children of fork().
// DESC-2 A number counts only if it still denotes the view in the kernel: programs that close or
//    replace descriptors by raw system calls change only the number's meaning.
// DESC-3 If a child of vfork() closes or copies descriptors, its parent's tables do not change.
// DESC-4 A descriptor that arrives without an open or a copy (over a socket, by a raw system call)
//    gets its entry at once if the call is intercepted (recvmsg(), syscall()); otherwise when the
//    program maps it or makes something durable by it.
//
// About DESC-4: a number that can have no entry keeps nothing open, but makes everything durable.
#pragma once

#include <cstdint>

#include "base/process/kept_number.hpp"

namespace scute::core::interpose {

class guarded_file;

// One open() of the program. Never freed, but reused: a thread that examines a number while another
// thread closes it finds an object.
struct opened_file {
  guarded_file* file = nullptr;
  kept_number real;  // of FILE, ours
  int flags = 0;     // of open()
  unsigned references = 0;
  bool of_parent = false;  // in a child of fork()
  opened_file* next_spare = nullptr;
};

// The table's entry, or null. Async-signal-safe; costs a load for numbers that are not ours.
opened_file* opened_at(int fd) noexcept;

// In a critical section. Takes over `real`; false: no room, errno is set.
bool enter_descriptor(int fd, guarded_file& file, int real, int flags) noexcept;
// `to` becomes a copy of the file of `fd`, which has an entry.
void copy_descriptor(opened_file& from, int to) noexcept;
// The entry of another number of this file that is the same open file as fd, or null.
opened_file* same_open_file(int fd, const guarded_file& file) noexcept;
bool are_same_open_file(int a, int b) noexcept;
// The file of fd loses a reference; it is notified when nothing of the open() is left
// (guarded_file::leave).
void drop_descriptor(int fd) noexcept;
// In a child of fork(): its numbers have no entries any more; for the purposes of DESC-1 they still
// belong to FILE.
void leave_descriptors_to_parent() noexcept;
// The open file of DESC-1, for an entry or for a number that a child has from its parent; null:
// neither. Only its `real` may be used.
opened_file* facts_of(int fd) noexcept;
bool is_noted(int fd) noexcept;  // either of the two, whether the kernel still agrees or not
// True in a child of vfork(): it has its parent's memory, so these tables too, and descriptors of
// its own (DESC-3). Async-signal-safe.
bool is_borrowed() noexcept;
// Makes the tables this process's own.
void own_tables() noexcept;

constexpr int descriptors_max = 1 << 16;
// The table's entry, whether the kernel still agrees or not.
opened_file* entry_of(int fd) noexcept;

}  // namespace scute::core::interpose

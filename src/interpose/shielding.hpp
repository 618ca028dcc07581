// SPDX-License-Identifier: BSD-3-Clause
// Which files are shielded, and what an open() of one gives.
#pragma once

#include <string>

namespace scute::core::interpose {

class guarded_file;

// The name that an open file has now, from the root. Without memory from the heap: every open() of
// a program comes here.
bool path_of(int fd, char (&path)[4096 + 16]) noexcept;

// fd has just been opened by the program with these flags. If it is of a shielded file, the number
// becomes the view's. False with errno: it is, and cannot be had; the descriptor is to be closed.
bool shield_descriptor(int fd, int flags) noexcept;

// The number, which is a view's bytes, becomes a descriptor of its file like others. In a critical
// section. False with errno.
bool enter_view(int fd, int flags, guarded_file& file) noexcept;

// The number is an open file of a shielded file itself, as others have given it to the program;
// becomes its path.
bool is_unshielded(int fd, std::string& path);

// Whether a shielded file is at `path`, which is to be cut to nothing (O_TRUNC), without opening it
// for that.
bool is_shielded_at(int at, const char* path) noexcept;

// The name itself, and nothing that it links to, is that of a shielded file, or of its protection.
// Keeps errno.
bool is_shielded_name(int at, const char* path) noexcept;

// The file opened with these flags is a shielded one, which would be truncated to nothing: EBUSY,
// and reported. (Its protection does not get shorter, and the program would lose it all.)
bool cuts_shielded(int at, const char* path, int flags) noexcept;

// A call that would change a shielded file, or its protection, is refused: EBUSY, and reported ("is
// not moved"), with the remedy for the files next to it (OUTLOOK-2).
void refuse_kept(int at, const char* path, const char* what) noexcept;

// As the program's own calls. -1 with errno.
int open_as_program(int at, const char* path, int flags, unsigned mode);
int close_as_program(int fd) noexcept;

}  // namespace scute::core::interpose

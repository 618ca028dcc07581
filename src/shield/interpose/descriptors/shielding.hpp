// SPDX-License-Identifier: BSD-3-Clause
// Finds out which files are shielded, and opens them for the program.
#pragma once

#include <string>

namespace scute::core::interpose {

class guarded_file;

// The present name of an open file, from the root. Needs no heap memory: every open() of a program
// comes here.
bool path_of(int fd, char (&path)[4096 + 16]) noexcept;

// The program has just opened fd with these flags. If it is a shielded file, the number becomes a
// descriptor of the view. Returns false with errno if it is one but cannot be had; then the caller
// closes the descriptor.
bool shield_descriptor(int fd, int flags) noexcept;

// Makes the number, which denotes a view's bytes, a regular descriptor of its file. In a critical
// section. False with errno.
bool enter_view(int fd, int flags, guarded_file& file) noexcept;

// Whether the number is an open file of a shielded file itself, passed on by another process. path
// becomes its path.
bool is_unshielded(int fd, std::string& path);

// Whether a shielded file is at `path`, which is about to be truncated (O_TRUNC); does not open it
// for that.
bool is_shielded_at(int at, const char* path) noexcept;

// Whether the name itself, and not a link's target, is that of a shielded file or of its
// protection. Keeps errno.
bool is_shielded_name(int at, const char* path) noexcept;

// Whether opening the file with these flags would truncate a shielded file to nothing: then sets
// EBUSY, and reports it. (Its protection does not get shorter, and the program would lose
// everything.)
bool cuts_shielded(int at, const char* path, int flags) noexcept;

// A call that would change a shielded file, or its protection, is refused: EBUSY, and reported ("is
// not moved"), with the remedy for the files next to it (OUTLOOK-2).
void refuse_kept(int at, const char* path, const char* what) noexcept;

// Like the program's own calls. Return -1 with errno.
int open_as_program(int at, const char* path, int flags, unsigned mode);
int close_as_program(int fd) noexcept;

}  // namespace scute::core::interpose

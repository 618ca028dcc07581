// SPDX-License-Identifier: BSD-3-Clause
// Which files are shielded, and what an open() of one gives.
#pragma once

#include <string>

namespace scute::core::interpose {

// fd has just been opened by the program with these flags. If it is of a shielded file, the number becomes the view's. False
// with errno: it is, and cannot be had; the descriptor is to be closed.
bool shield_descriptor(int fd, int flags) noexcept;

// The number is an open file of a shielded file itself, as others have given it to the program; becomes its path.
bool is_unshielded(int fd, std::string& path);

// Whether a shielded file is at `path`, which is to be cut to nothing (O_TRUNC), without opening it for that.
bool is_shielded_at(int at, const char* path) noexcept;

// As the program's own calls. -1 with errno.
int open_as_program(int at, const char* path, int flags, unsigned mode);
int close_as_program(int fd) noexcept;

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing memory of this process that may not be there.
#pragma once

#include <cstddef>

namespace scute::core {

// Copies n bytes; false where an access would fault: no signal is raised. By a system call. Where
// the machine does not permit that one (some containers do not) it is an access like any other.
// Async-signal-safe; keeps errno.
bool read_memory(void* to, const void* from, size_t n) noexcept;
// Stores n bytes to a page of a shared mapping, whatever access that mapping permits; its
// permissions stay. Where the page cannot be stored to, its block is given back, and another one
// taken. False if that fails as well. Async-signal-safe.
bool write_shared_page(void* page, size_t size, const void* from, size_t n) noexcept;

}  // namespace scute::core

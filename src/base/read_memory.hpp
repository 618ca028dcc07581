// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes memory of this process that may not be accessible.
#pragma once

#include <cstddef>

namespace scute::core {

// Copies n bytes by a system call. Returns false if an access would fault: no signal is raised. If
// the machine does not permit the system call (some containers do not), it accesses the memory
// directly. Async-signal-safe; keeps errno.
bool read_memory(void* to, const void* from, size_t n) noexcept;
// Stores n bytes to a page of a shared mapping, whatever access that mapping permits; its
// permissions stay. If the page cannot be stored to, its block is given back, and another one
// taken. Returns false if that fails as well. Async-signal-safe.
bool write_shared_page(void* page, size_t size, const void* from, size_t n) noexcept;

}  // namespace scute::core

// SPDX-License-Identifier: BSD-3-Clause
// Reading memory of this process that may not be there.
#pragma once

#include <cstddef>

namespace scute::core {

// Copies n bytes; false where an access would fault: no signal is raised. By a system call. Where the machine does not permit that one
// (some containers do not) it is an access like any other. Async-signal-safe; keeps errno.
bool read_memory(void* to, const void* from, size_t n) noexcept;

}  // namespace scute::core

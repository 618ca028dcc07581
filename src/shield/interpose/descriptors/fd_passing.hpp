// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that reach a program without an open or a copy (DESC-4).
#pragma once

struct msghdr;

namespace scute::core::interpose {

class guarded_file;
struct opened_file;

// The view that the descriptor leads to; it may have come by a call that is not intercepted. Null
// if it leads to no view of this process. Not in a critical section.
opened_file* met_at(int fd) noexcept;
guarded_file* met_file(int fd) noexcept;
// The descriptor has just arrived; it may also belong to another process's view (INHERIT-3,
// INHERIT-4).
void receive(int fd) noexcept;
// All that have arrived with a message, as the kernel has written it.
void receive_all(msghdr& message) noexcept;

}  // namespace scute::core::interpose

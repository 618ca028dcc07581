// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that come to a program by other ways than calls that open or copy them (DESC-4).
#pragma once

struct msghdr;

namespace scute::core::interpose {

class guarded_file;
struct opened_file;

// The view that the descriptor leads to, which may have come by a call that is not intercepted.
// Null if it leads to none of this process's views. Not in a critical section.
opened_file* met_at(int fd) noexcept;
guarded_file* met_file(int fd) noexcept;
// It has come now: also what others give us of their own (INHERIT-3, INHERIT-4).
void receive(int fd) noexcept;
// All that have come with a message, as the kernel has written it.
void receive_all(msghdr& message) noexcept;

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that an image has from the one before it in the same process, or from the process
// that made it.
//
// INHERIT-1 A descriptor that the program has not marked close-on-exec lives on as what it is, one
//    of a view's bytes, if a supervisor has the view. The image that finds it opens the file again
//    if no process has that view any more (SUPER-4), with the same access, at the same place.
// INHERIT-2 Copies of one descriptor stay copies of one.
// INHERIT-3 Where the view is still a living process's the descriptor stays its: what is read there
//    is what that process sees, what is written becomes part of the file with that process's next
//    sync, or its end.
// INHERIT-4 A descriptor of a shielded file itself may have been opened for the image without the
//    shield (by a shell outside of it, a file action of posix_spawn(), a child of vfork()). It is
//    taken over in the same way, or closed if the file cannot be had.
// INHERIT-5 Once that process has no view any more, no process looks at stores through a mapping of
//    such a descriptor: msync() of it fails then, and fsync() of a descriptor that was mapped so
//    (EIO). A write fails anyway (SUPER-4).
#pragma once

namespace scute::core::interpose {

// When the image begins, before the program has run.
void take_over_descriptors() noexcept;
// One that has just come from another process (DESC-4).
void take_over_descriptor(int fd) noexcept;
// A program that is made now gets all of what its descriptors show (PAGEIN-4): those that live on,
// or such as `given` may name.
void prepare_inherited_fds(bool given) noexcept;

}  // namespace scute::core::interpose

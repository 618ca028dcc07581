// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that an image has from the previous image of the same process, or from the process
// that made it.
//
// INHERIT-1 A descriptor that the program has not marked close-on-exec stays a descriptor of a
//    view's bytes, if a supervisor has the view. If no process has that view any more (SUPER-4),
//    the image that finds it opens the file again, with the same access, at the same place.
// INHERIT-2 Copies of one descriptor stay copies of one.
// INHERIT-3 If a living process still has the view, the descriptor stays that process's. Reads show
//    what that process sees. Written bytes become part of the file with that process's next sync,
//    or its end.
// INHERIT-4 A descriptor of a shielded file itself may have been opened for the image without the
//    shield (by a shell outside of it, a file action of posix_spawn(), a child of vfork()). It is
//    taken over in the same way, or closed if the file cannot be opened.
// INHERIT-5 Once that process has no view any more, stores through a mapping of such a descriptor
//    reach no file: msync() of it then fails (EIO), and so does fsync() of a descriptor that was
//    mapped so. A write fails anyway (SUPER-4).
#pragma once

namespace scute::core::interpose {

// Called when the image begins, before the program runs.
void take_over_descriptors() noexcept;
// Takes over one that has just come from another process (DESC-4).
void take_over_descriptor(int fd) noexcept;
// A program is about to be started. Loads all pages that its descriptors show (PAGEIN-4): those
// that live on, or such as `given` may name.
void prepare_inherited_fds(bool given) noexcept;

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// Makes a view longer.
//
// GROW-1 Bytes that write(2) has put after the end that the view knows stay where they are: they
//    differ from the medium, which has zeros there. So nothing clears the program's stores after
//    the file's end in its last page: another process may be appending now, and only the kernel
//    knows where.
// GROW-2 The new pages count as loaded before any thread stores to them; otherwise their bytes
//    would not be committed.
// GROW-3 First memory for the view is reserved, then the medium gets longer, then the view's file
//    does, which cannot fail any more. So a full disk leaves no longer file, whose end every later
//    sync would take for appended bytes.
// GROW-4 Appended bytes for which there is no room, or that are beyond the capacity, do not keep
//    others from the file: the bytes before them are written, and then the failure is reported.
//
// About GROW-1: stores after the end become part of the file when it grows over them, as on tmpfs.
#pragma once

#include <cstdint>

#include "shield/supervisor/view_memory.hpp"
#include "shield/view/file_view.hpp"

namespace scute::core::supervisor {

// Returns false if the backing has failed or has no room (pool_backing::why()). Throws failure.
[[nodiscard]] bool grow_view(view::file_view& view, const view_memory& memory, uint64_t size);

}  // namespace scute::core::supervisor

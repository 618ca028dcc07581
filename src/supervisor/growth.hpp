// SPDX-License-Identifier: BSD-3-Clause
// A view gets longer.
//
// GROW-1 What write(2) has put behind the end that the view knows stays where it is, all the time:
//    it differs from the medium, which has zeros there. So nothing writes there to make zeros of
//    what the program has stored behind the end of the file, in its last page: somebody may append
//    at this moment, and only the kernel knows where. Such stores are of the file when it grows
//    over them, as on tmpfs.
// GROW-2 The new pages count as loaded before anybody stores to them, or nothing of them would be
//        committed.
// GROW-3 First there is room for the view's memory, then the medium gets longer, and then the
//    memory does, which cannot fail any more: what a full disk refuses leaves nothing behind that
//    every later sync would take for bytes that were appended.
// GROW-4 What has been appended and has no room, or is beyond the capacity, keeps nothing else from
//    the file: what lies before it is written, and then it is told of.
#pragma once

#include <cstdint>

#include "supervisor/view_memory.hpp"
#include "view/file_view.hpp"

namespace scute::core::supervisor {

// False: the backing has failed, or has no room (pool_backing::why()). Throws failure.
[[nodiscard]] bool grow_view(view::file_view& view, const view_memory& memory, uint64_t size);

}  // namespace scute::core::supervisor

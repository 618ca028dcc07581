// SPDX-License-Identifier: BSD-3-Clause
// A view gets longer.
//
// GROW-1 What write(2) has put behind the end that the view knows stays where it is, all the time: it differs from the medium, which has zeros there.
// GROW-2 The new pages count as loaded before anybody stores to them, or nothing of them would be committed.
#pragma once

#include <cstdint>

#include "holder/view_memory.hpp"
#include "view/file_view.hpp"

namespace scute::core::holder {

// False: the backing has failed (pool_backing::why()). Throws failure.
[[nodiscard]] bool grow_view(view::file_view& view, const view_memory& memory, uint64_t size);

}  // namespace scute::core::holder

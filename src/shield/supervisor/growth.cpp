// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/growth.hpp"

namespace scute::core::supervisor {

bool grow_view(view::file_view& view, const view_memory& memory, uint64_t size) {
  const uint64_t before = view.size();
  if (size <= before) return true;
  memory.reserve(size);                                      // GROW-3
  return view.grow(size, [&] { memory.lengthen(size); }) &&  // GROW-3
         view.load(before, size - before);                   // GROW-2
}

}  // namespace scute::core::supervisor

// SPDX-License-Identifier: BSD-3-Clause
#include "holder/growth.hpp"

#include <algorithm>

namespace scute::core::holder {

bool grow_view(view::file_view& view, const view_memory& memory, uint64_t size) {
  const uint64_t before = view.size();
  if (size <= before) return true;
  const uint64_t appended = std::min(memory.length(), size);  // GROW-1
  memory.lengthen(size);
  return view.grow(size, appended) && view.load(before, size - before);  // GROW-2
}

}  // namespace scute::core::holder

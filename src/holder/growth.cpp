// SPDX-License-Identifier: BSD-3-Clause
#include "holder/growth.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace scute::core::holder {

bool grow_view(view::file_view& view, const view_memory& memory, uint64_t size) {
  const uint64_t before = view.size();
  if (size <= before) return true;
  // GROW-1
  std::vector<std::byte> appended(std::min(std::max(memory.length(), before), size) - before);
  if (!appended.empty()) std::memcpy(appended.data(), memory.bytes_at() + before, appended.size());
  memory.lengthen(size);
  if (!view.grow(size) || !view.load(before, size - before)) return false;  // GROW-2
  if (!appended.empty()) std::memcpy(memory.bytes_at() + before, appended.data(), appended.size());
  return true;
}

}  // namespace scute::core::holder

// SPDX-License-Identifier: BSD-3-Clause
// How the supervisor reads a table of places.
#include <algorithm>

#include "shield/audit/site_table.hpp"

namespace scute::core::audit {
namespace {

// AUDIT-2
std::string text_of(const char* at, size_t room) {
  return {at, static_cast<size_t>(std::find(at, at + room, '\0') - at)};
}

}  // namespace

bool site_table::read(uint32_t index, site_record& to) const {
  const place& p = all_[index % places];
  to = {};
  bool any = false;
  for (size_t i = 0; i < site_events; ++i) {
    to.counts[i] = p.counts[i].load(std::memory_order_relaxed);
    any = any || to.counts[i] != 0;
  }
  if (p.named.load(std::memory_order_acquire) == 0) return any;
  to.file = text_of(p.file, sizeof p.file);
  to.function = text_of(p.function, sizeof p.function);
  to.line = p.line;
  to.column = p.column;
  return true;
}

}  // namespace scute::core::audit

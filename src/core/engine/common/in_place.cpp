// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/common/in_place.hpp"

#include <cstring>

#include "base/locks/waiting.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::engine {

void keep_in_place(pool::state& s, pool::lane& l, std::span<const tx::inplace_range> ranges) {
  l.in_place.clear();
  uint64_t total = 0;
  for (const auto& r : ranges) total += r.length;
  if (total == 0) return;
  std::byte* now = l.in_place.extend(total);
  for (const auto& r : ranges) {
    std::memcpy(now, s.at(r.offset), r.length);
    if (!pool::keep_in_place(s, r.offset, now, r.length))
      throw failure(SCUTE_E_CORRUPT,
                    s.path +
                        ": a page that this transaction changed in place was lost, with the "
                        "changes. The transaction was aborted, and the page has its former "
                        "content. Run the transaction again");
    now += r.length;
  }
}

void put_back(pool::state& s, pool::lane& l, std::span<const tx::inplace_range> ranges) {
  switch_point();  // until now the user's stores were there
  for (const auto& r : ranges) {
    const uint64_t n = r.length;
    l.w.stream(s.at(r.offset), r.old, n, medium::purpose::data);
  }
  l.w.fence(fence_site::restore);
  s.require_healthy();
}

void close_in_place(pool::state& s, std::span<const tx::inplace_range> ranges) noexcept {
  for (const auto& r : ranges) pool::end_in_place(s, r.offset, r.length);
}

}  // namespace scute::core::engine

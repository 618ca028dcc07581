// SPDX-License-Identifier: BSD-3-Clause
// Reports lost fragments: each once, and at the end those whose blocks no thread has resolved
// (RES-10).
#include "core/engine/logfree/resolution.hpp"
#include "core/repair/page_layout.hpp"
#include "core/repair/repair.hpp"

namespace scute::core::engine {

void resolution::report_lost(const pool::fragment& f) {
  const locked hold(reporting_);
  if (reported_.insert(f.header).second) repair::report_lost(s_, nullptr, f);
}

void resolution::finish() noexcept {
  pending_.store(false, std::memory_order_release);
  const pool::finder_scope as(SCUTE_FINDER_OPEN);
  const locked hold(reporting_);
  for (const auto& [header, f] : unreported_) {
    const auto h = header_at(header);
    const auto head = header_at(repair::first_of(f).header);
    // Other threads may have written or freed it by now.
    if (reported_.contains(header) || pool::valid(s_, f) || is_of_this_session(h.tag) ||
        (f.index != 0 && (format::meta_role(head.meta) != format::role::live ||
                          format::meta_size(head.meta) <= f.index * format::fragment_payload)))
      continue;
    repair::report_lost(s_, nullptr, f);
  }
}

}  // namespace scute::core::engine

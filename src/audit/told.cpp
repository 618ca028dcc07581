// SPDX-License-Identifier: BSD-3-Clause
// What hooks call for each store: general registers only (HOOK-7).
#include <algorithm>

#include "audit/audit_memory.hpp"
#include "audit/call_site.hpp"
#include "audit/tell_clock.hpp"
#include "view/line.hpp"

namespace scute::core::audit {

void store_audit::told(uint64_t offset, uint64_t n) noexcept {
  if (n == 0) return;
  n = std::min(n, ~offset);
  const uint64_t now = tell_clock::tell();
  const uint64_t word = word_of(now, sites_.index_of(call_site::current()));
  const uint64_t end = std::min(view::line_of(offset + n - 1) + 1, head_->lines);
  for (uint64_t line = view::line_of(offset); line < end; ++line) {
    std::atomic<uint64_t>& told = words_[line].told;
    uint64_t before = told.load(std::memory_order_relaxed);
    // Moments only rise: the word of a thread that was held up does not replace a later one's.
    while (before != word && moment_of(before) <= now &&
           !told.compare_exchange_weak(before, word)) {
    }
  }
}

}  // namespace scute::core::audit

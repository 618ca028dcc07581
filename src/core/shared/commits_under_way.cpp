// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/commits_under_way.hpp"

#include <algorithm>
#include <vector>

#include "base/locks/waiting.hpp"
#include "base/rounding.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::pool {

bool let_commits_end(const state& s, const lane* but,
                     std::chrono::steady_clock::time_point deadline) {
  std::vector<uint64_t> decided;
  decided.reserve(s.lanes.size());
  for (const auto& l : s.lanes) decided.push_back(l.begun.load(std::memory_order_acquire));
  for (size_t i = 0; i < decided.size(); ++i) {
    if (&s.lanes[i] == but) continue;
    const auto over = [&] {
      return s.lanes[i].applied.load(std::memory_order_acquire) >= decided[i];
    };
    for (unsigned spins = 0; !over(); spin_pause(spins))
      if (this_thread_waits.call == nullptr &&
          (s.medium->failed() || std::chrono::steady_clock::now() > deadline))
        return false;
  }
  return true;
}

void let_windows_end(state& s, uint64_t offset, uint64_t length) noexcept {
  for (uint64_t at = round_down(offset, format::page); at < offset + length; at += format::page) {
    const uint32_t stripe = stripe_of(s, std::max(at, offset));
    s.locks.lock_exclusive(stripe);
    s.locks.unlock_exclusive(stripe);
  }
}

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
// The claims that a commit has (pool/claims.hpp, CLAIM-1), for the time of its life.
#pragma once

#include <algorithm>

#include "pool/state.hpp"

namespace scute::core::tx {

class claim_guard {
 public:
  claim_guard(pool::state& s, pool::lane& l) noexcept : s_(s), l_(l) { l_.claims.clear(); }
  ~claim_guard() {
    for (size_t i = 0; i < held_; ++i) s_.claimed.release(l_.claims[i]);
    l_.claims.clear();
  }
  claim_guard(const claim_guard&) = delete;
  claim_guard& operator=(const claim_guard&) = delete;

  void add(uint64_t payload) { l_.claims.push_back(pool::claims::index(payload)); }
  // All that were added, once.
  void take() noexcept {
    auto& all = l_.claims;
    if (all.size() > 1) {
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    for (; held_ < all.size(); ++held_)
      if (!s_.claimed.take(all[held_])) l_.w.count.lock_waits.add(1);
  }

 private:
  pool::state& s_;
  pool::lane& l_;
  size_t held_ = 0;
};

// The claim of one object, for whoever repairs it in engine redo: what looks damaged may be a commit in the
// middle of its work. Nothing if the lane has it already, or in engine logfree, whose columns tell.
class repair_claim {
 public:
  repair_claim(pool::state& s, const pool::lane* l, uint64_t payload) noexcept
      : s_(s), i_(pool::claims::index(payload)) {
    if (s.parity_is_log) return;
    if (l != nullptr && std::find(l->claims.begin(), l->claims.end(), i_) != l->claims.end())
      return;
    s_.claimed.take(i_);
    taken_ = true;
  }
  ~repair_claim() {
    if (taken_) s_.claimed.release(i_);
  }
  repair_claim(const repair_claim&) = delete;
  repair_claim& operator=(const repair_claim&) = delete;

 private:
  pool::state& s_;
  const uint32_t i_;
  bool taken_ = false;
};

}  // namespace scute::core::tx

// SPDX-License-Identifier: BSD-3-Clause
// Which versions of an object's fragments a transaction has read: the tags of their headers. No two commits
// give one tag, so a fragment that has the same one still is what was read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scute::core::tx {

class origins {
 public:
  void clear() noexcept { all_.clear(); }
  // The first one of a fragment counts: what is read later must be of the same version.
  void note(uint64_t fragment, uint64_t tag) {
    if (all_.empty() || all_.back().fragment < fragment) {
      all_.push_back({fragment, tag});
      return;
    }
    const auto at = find_first(fragment);
    if (at->fragment != fragment) all_.insert(at, {fragment, tag});
  }
  // 0, which is nobody's tag, if the fragment was not read.
  uint64_t of(uint64_t fragment) const noexcept {
    const auto at = find_first(fragment);
    return at != all_.end() && at->fragment == fragment ? at->tag : 0;
  }

 private:
  struct one {
    uint64_t fragment, tag;
  };
  std::vector<one>::const_iterator find_first(uint64_t fragment) const noexcept {
    return std::lower_bound(all_.begin(), all_.end(), fragment,
                            [](const one& x, uint64_t f) { return x.fragment < f; });
  }

  std::vector<one> all_;  // by fragment
};

}  // namespace scute::core::tx

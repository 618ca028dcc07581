// SPDX-License-Identifier: BSD-3-Clause
// Which versions of an object's fragments a transaction has read: the tags of their headers. No two
// commits use one tag, so a fragment that has the same tag is unchanged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scute::core::tx {

class origins {
 public:
  void clear() noexcept {
    first_ = 0;
    others_.clear();
  }
  // The first tag of a fragment counts: later reads must be of the same version.
  void note(uint64_t fragment, uint64_t tag) {
    if (fragment == 0) {
      if (first_ == 0) first_ = tag;
      return;
    }
    if (others_.empty() || others_.back().fragment < fragment) {
      others_.push_back({fragment, tag});
      return;
    }
    const auto at = find_first(fragment);
    if (at->fragment != fragment) others_.insert(at, {fragment, tag});
  }
  // 0, which is no tag, if the fragment was not read.
  uint64_t of(uint64_t fragment) const noexcept {
    if (fragment == 0) return first_;
    const auto at = find_first(fragment);
    return at != others_.end() && at->fragment == fragment ? at->tag : 0;
  }

 private:
  struct one {
    uint64_t fragment, tag;
  };
  std::vector<one>::const_iterator find_first(uint64_t fragment) const noexcept {
    return std::lower_bound(others_.begin(), others_.end(), fragment,
                            [](const one& x, uint64_t f) { return x.fragment < f; });
  }

  uint64_t first_ = 0;       // of fragment 0, which is the only one of most objects
  std::vector<one> others_;  // by fragment
};

}  // namespace scute::core::tx

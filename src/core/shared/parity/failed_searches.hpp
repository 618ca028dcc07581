// SPDX-License-Identifier: BSD-3-Clause
// Remembers searches that have failed, so that they are not repeated at each request for a lost
// object.
#pragma once

#include <cstdint>
#include <map>

#include "base/locks/lock.hpp"

namespace scute::core::pool {

// Any number of threads may use it. A search would fail again if nothing was repaired since and the
// bytes that it starts from are the same.
class failed_searches {
 public:
  // place: file offset of a fragment's header; repairs: of the session so far; sum: of those bytes.
  bool known(uint64_t place, uint64_t repairs, uint64_t sum) const {
    const locked hold(mutex_);
    const auto at = failed_.find(place);
    return at != failed_.end() && at->second == search{repairs, sum};
  }
  void add(uint64_t place, uint64_t repairs, uint64_t sum) {
    const locked hold(mutex_);
    if (failed_.size() >= places_max && failed_.count(place) == 0) failed_.clear();
    failed_[place] = {repairs, sum};
  }

 private:
  struct search {
    uint64_t repairs, sum;
    bool operator==(const search&) const noexcept = default;
  };
  static constexpr size_t places_max = size_t{1} << 16;
  mutable plain_mutex mutex_;
  std::map<uint64_t, search> failed_ SCUTE_GUARDED_BY(mutex_);
};

}  // namespace scute::core::pool

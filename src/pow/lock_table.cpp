// SPDX-License-Identifier: BSD-3-Clause
#include "pow/lock_table.hpp"

namespace scute::core::pow {

void lock_table::collect(const void* lock, dependencies& to) const {
  const bucket& b = buckets_[bucket_of(lock)];
  const locked guard(b.lock);
  if (const auto at = b.of.find(lock); at != b.of.end()) to.add(at->second);
}

void lock_table::note(const void* lock, const dependencies& what, bool beside) {
  bucket& b = buckets_[bucket_of(lock)];
  const locked guard(b.lock);
  if (what.empty() && !beside) {
    b.of.erase(lock);
    return;
  }
  if (what.empty()) return;
  dependencies& there = b.of[lock];
  if (!beside) there.clear();
  there.add(what);
}

void lock_table::drop_holder(const void* lock, const void* section) noexcept {
  bucket& b = buckets_[bucket_of(lock)];
  const locked guard(b.lock);
  if (const auto at = b.holder.find(lock); at != b.holder.end() && at->second == section)
    b.holder.erase(at);
}

}  // namespace scute::core::pow

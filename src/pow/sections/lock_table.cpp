// SPDX-License-Identifier: BSD-3-Clause
#include "pow/sections/lock_table.hpp"

namespace scute::core::pow {

void lock_table::collect(const void* lock, dependencies& to) const {
  const bucket& b = buckets_[bucket_of(lock)];
  const locked guard(b.lock);
  if (const auto at = b.of.find(lock); at != b.of.end()) to.add(at->second);
}

size_t lock_table::size() const {
  size_t n = 0;
  for (const bucket& b : buckets_) {
    const locked guard(b.lock);
    n += b.of.size();
  }
  return n;
}

void lock_table::drop_holder(const void* lock, const void* section) noexcept {
  bucket& b = buckets_[bucket_of(lock)];
  const locked guard(b.lock);
  if (const auto at = b.holder.find(lock); at != b.holder.end() && at->second == section)
    b.holder.erase(at);
}

}  // namespace scute::core::pow

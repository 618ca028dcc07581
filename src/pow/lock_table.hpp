// SPDX-License-Identifier: BSD-3-Clause
// What was released under each of the program's locks and may not be durable yet (POW-7). A lock is known by its address.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/lock.hpp"
#include "base/spin_lock.hpp"
#include "pow/dependencies.hpp"

namespace scute::core::pow {

class lock_table {
 public:
  // Adds to `to` what was released under the lock.
  void collect(const void* lock, dependencies& to) const;
  // `what` was released under it, by somebody who has seen all that was there before, or, if `beside`, along with that.
  void note(const void* lock, const dependencies& what, bool beside);

  // Who holds which lock alone, for those who want to know whether a section has given one away (it waited on a condition
  // variable). Calls there(section) if another one has it, and returns false then.
  template <typename Fn>
  bool add_holder(const void* lock, void* section, Fn&& there) {
    bucket& b = buckets_[bucket_of(lock)];
    const locked guard(b.lock);
    const auto [at, fresh] = b.holder.try_emplace(lock, section);
    if (!fresh) there(at->second);
    return fresh;
  }
  void drop_holder(const void* lock, const void* section) noexcept;

 private:
  static constexpr size_t bucket_count = 64;
  struct bucket {
    mutable spin_lock lock;
    std::unordered_map<const void*, dependencies> of SCUTE_GUARDED_BY(lock);
    std::unordered_map<const void*, void*> holder SCUTE_GUARDED_BY(lock);
  };
  static size_t bucket_of(const void* lock) noexcept {
    const auto x = reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15ULL;
    return x >> 58;
  }
  bucket buckets_[bucket_count];
};

}  // namespace scute::core::pow

// SPDX-License-Identifier: BSD-3-Clause
// The undurable batches that were released under each of the program's locks (POW-7). A lock is
// identified by its address.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <unordered_map>

#include "base/locks/lock.hpp"
#include "base/locks/spin_lock.hpp"
#include "pow/sections/dependencies.hpp"

namespace scute::core::pow {

class lock_table {
 public:
  // Adds to `to` the batches released under the lock.
  void collect(const void* lock, dependencies& to) const;
  // Notes that `what` was released under the lock. Usually the releasing thread has seen all that
  // was noted before, so `what` replaces it. If the third argument is true it has not, and `what`
  // is added.
  //
  // Programs make and destroy locks without notice. When many have accumulated, this drops those
  // with no batch left for which is_undurable(lane, number) holds.
  template <typename Undurable>
  void note(const void* lock, const dependencies& what, bool beside, Undurable&& is_undurable) {
    bucket& b = buckets_[bucket_of(lock)];
    const locked guard(b.lock);
    if (what.empty() && !beside) {
      b.of.erase(lock);
      return;
    }
    if (what.empty()) return;
    if (b.of.size() >= b.look_at) {
      for (auto at = b.of.begin(); at != b.of.end();) {
        at->second.leave(is_undurable);
        at = at->second.empty() ? b.of.erase(at) : std::next(at);
      }
      b.look_at = std::max(look_at_least, 2 * b.of.size());
    }
    dependencies& there = b.of[lock];
    if (!beside) there.clear();
    there.add(what);
  }
  // Locks under which something is noted.
  size_t size() const;

  // Records which section holds which lock alone, to find out whether a section has given one away
  // (it waited on a condition variable). Calls there(section) if another one has it, and returns
  // false then. (The same one takes a recursive lock again.)
  template <typename Fn>
  bool add_holder(const void* lock, void* section, Fn&& there) {
    bucket& b = buckets_[bucket_of(lock)];
    const locked guard(b.lock);
    const auto [at, fresh] = b.holder.try_emplace(lock, section);
    if (fresh || at->second == section) return true;
    there(at->second);
    return false;
  }
  void drop_holder(const void* lock, const void* section) noexcept;

 private:
  static constexpr size_t bucket_count = 64;
  static constexpr size_t look_at_least = 64;
  struct bucket {
    mutable spin_lock lock;
    size_t look_at SCUTE_GUARDED_BY(lock) = look_at_least;  // when so many are there
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

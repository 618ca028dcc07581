// SPDX-License-Identifier: BSD-3-Clause
// Locks with a contract (base/locks/lock_contract.hpp), which those of the standard library do not
// have.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/locks/lock_contract.hpp"

namespace scute::core {

// The standard mutex, for locks that are not held across writes to the medium
// (base/locks/waiting.hpp).
class SCUTE_CAPABILITY("mutex") plain_mutex {
 public:
  void lock() SCUTE_ACQUIRE() { mutex_.lock(); }
  bool try_lock() SCUTE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() SCUTE_RELEASE() { mutex_.unlock(); }

 private:
  friend class condition;
  std::mutex mutex_;
};

// Holds a lock to the end of the scope.
template <typename Mutex>
class SCUTE_SCOPED locked {
 public:
  explicit locked(Mutex& m) SCUTE_ACQUIRE(m) : m_(m) { m_.lock(); }
  ~locked() SCUTE_RELEASE() { m_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  Mutex& m_;
};

// A condition that threads wait for, guarded by a plain_mutex. A wait may end without cause, so it
// belongs in a loop. Use wait_until() to wait for a given time.
class condition {
 public:
  void wait(plain_mutex& m) SCUTE_REQUIRES(m) {
    adopted of(m);
    changed_.wait(of.lock);
  }
  template <typename Duration>
  void wait_for(plain_mutex& m, const Duration& most) SCUTE_REQUIRES(m) {
    adopted of(m);
    changed_.wait_for(of.lock, most);
  }
  // Returns false if the time is over.
  template <typename Time>
  bool wait_until(plain_mutex& m, const Time& end) SCUTE_REQUIRES(m) {
    adopted of(m);
    return changed_.wait_until(of.lock, end) == std::cv_status::no_timeout;
  }
  void notify_one() noexcept { changed_.notify_one(); }
  void notify_all() noexcept { changed_.notify_all(); }

 private:
  // The caller has the lock before and after, however the wait ends.
  struct adopted {
    explicit adopted(plain_mutex& m) : lock(m.mutex_, std::adopt_lock) {}
    ~adopted() { static_cast<void>(lock.release()); }
    adopted(const adopted&) = delete;
    adopted& operator=(const adopted&) = delete;
    std::unique_lock<std::mutex> lock;
  };
  std::condition_variable changed_;
};

}  // namespace scute::core

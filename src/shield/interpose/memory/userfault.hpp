// SPDX-License-Identifier: BSD-3-Clause
// userfaultfd(2): a thread that touches a missing page of a file in memory, or stores to a
// protected one, waits until another thread lets it continue. If this user may have it completely,
// that also holds for the kernel's accesses in a system call of the program. Otherwise such a call
// fails with EFAULT, or ends early.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/process/kept_number.hpp"

namespace scute::core::interpose {

// A descriptor of this process's own. Any thread; async-signal-safe except for open().
class userfault {
 public:
  userfault() = default;
  userfault(const userfault&) = delete;
  userfault& operator=(const userfault&) = delete;

  // False with errno if the kernel does not have it, or not for this user.
  bool open() noexcept;
  // The errno of what keeps it from being complete, or 0.
  int lacks() const noexcept { return lacks_; }
  bool waits_for_pages() const noexcept { return lacks_ == 0 && (features_ & pages_feature) != 0; }
  bool waits_for_stores() const noexcept { return (features_ & stores_feature) != 0; }
  // In a child, which has no use of its parent's.
  void forget() noexcept;

  // Watches a mapping of a file in memory, shared and of a descriptor that can write, in multiples
  // of pages: threads that touch absent pages wait, and stores can be made to wait. False with
  // errno.
  bool watch(uintptr_t at, size_t n, bool pages, bool stores) const noexcept;
  // Makes stores to the range wait, or continue, where it is watched for that; does nothing where
  // it is not mapped. False with errno.
  bool protect(uintptr_t at, size_t n, bool on) const noexcept;

  // gone: it is not mapped any more.
  enum class outcome : uint8_t { done, there_before, gone, failed };
  // Copies whole pages in order, each at once, into a watched range. `done`: all of them; otherwise
  // errno says why the one after `count` was not copied. No thread is woken.
  outcome copy(uintptr_t to, const std::byte* from, size_t pages, size_t& count) const noexcept;
  // Places a page of zeros where there is none.
  outcome zero(uintptr_t page) const noexcept;
  // From now on a thread that touches the page gets SIGBUS. `failed` if the kernel cannot do that
  // (before Linux 6.6).
  outcome poison(uintptr_t page) const noexcept;
  // Wakes threads that wait for a page of the range; they check again.
  void wake(uintptr_t at, size_t n) const noexcept;

  struct waiter {
    uintptr_t at;  // 0: none yet, or a kick
    bool stores;   // it stores to a present page
    bool is_over;  // the descriptor has gone, and no thread will come
  };
  // Returns a waiting thread, each once; waits for one if `waits`.
  waiter next(bool waits) const noexcept;
  void kick() const noexcept;

 private:
  static constexpr uint64_t pages_feature = uint64_t{1} << 5, stores_feature = uint64_t{1} << 12;

  kept_number fd_, kicks_;
  int lacks_ = 0;
  uint64_t features_ = 0;
};

}  // namespace scute::core::interpose

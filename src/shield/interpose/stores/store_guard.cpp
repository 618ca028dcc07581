// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/store_guard.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/locks/waiting.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/view_faults.hpp"
#include "shield/interpose/process/program_threads.hpp"
#include "shield/interpose/signals/signal_free_region.hpp"
#include "shield/interpose/signals/signals_wait.hpp"
#include "shield/view/line_copy.hpp"

namespace scute::core::interpose {
namespace {

std::atomic<bool> held{false};
sigset_t before_hold;  // the signals of the thread that holds it
constexpr unsigned commit_sets_between_questions = 64;
constexpr unsigned spins_before_look = turns_before_sleep + 4;
constexpr unsigned disturbed_most = 3;  // times in a row

void take() noexcept {
  for (unsigned spins = 0; held.exchange(true, std::memory_order_acquire);) spin_pause(spins);
}
void let_go() noexcept {
  const sigset_t before = before_hold;
  held.store(false, std::memory_order_release);
  let_signals_come(before);
}

bool is_alone() noexcept {
  return has_one_thread();
}

// Protects the range in all mappings of the file that can be stored to. No thread can store to
// mappings that no longer exist. Returns false if one cannot be protected.
bool protect(const guarded_file& file, uint64_t offset, size_t n, bool on) noexcept {
  const userfault* const faults = view_faults();
  bool done = true;
  for (uintptr_t from = 0;;) {
    const mapped_range r = mappings.first_in(from, UINTPTR_MAX);
    if (r.file == nullptr) return done;
    from = r.end;
    const uint64_t end = r.offset + (r.end - r.begin);
    if (r.file != &file || !r.stores || r.offset >= offset + n || end <= offset) continue;
    const uint64_t first = std::max(offset, r.offset), last = std::min(offset + n, end);
    done = faults->protect(r.begin + (first - r.offset), last - first, on) && done;
  }
}

}  // namespace

bool stores_are_guarded() noexcept {
  return !view::line_copy_whole();
}

bool store_guard::hold(uint64_t offset, size_t n) noexcept {
  sigset_t before;
  hold_signals(before);
  take();
  before_hold = before;
  if (protect(file_, offset, n, true)) return true;
  release(offset, n);
  return false;
}

bool store_guard::try_hold(uint64_t offset, size_t n) noexcept {
  sigset_t before;
  hold_signals(before);
  if (held.exchange(true, std::memory_order_acquire)) {
    let_signals_come(before);
    return false;
  }
  before_hold = before;
  if (protect(file_, offset, n, true)) return true;
  release(offset, n);
  return false;
}

void store_guard::release(uint64_t offset, size_t n) noexcept {
  static_cast<void>(protect(file_, offset, n, false));
  let_go();
}

bool store_guard::hold_all() noexcept {
  // Programs with threads are checked again now and then.
  if (not_alone_for_ != 0) {
    --not_alone_for_;
    return false;
  }
  if (is_alone()) {
    // A thread that was disturbed repeatedly blocks signals. Handlers may start threads, so their
    // number is checked a second time, by a read of memory, since in a system call the kernel may
    // deliver signals without a trace.
    signals_wait_ = disturbed_ >= disturbed_most || !signal_free_region::begin();
    if (!signals_wait_ && has_still_one_thread()) return true;
    if (!signals_wait_) static_cast<void>(signal_free_region::end());
    signals_wait_ = true;
    sigset_t before;
    hold_signals(before);
    if (is_alone()) {
      take();
      before_hold = before;
      return true;
    }
    let_signals_come(before);
  }
  static_cast<void>(begin_to_look_after());  // STORE-5; tried again if it cannot be started
  not_alone_for_ = commit_sets_between_questions;
  return false;
}

bool store_guard::release_all() noexcept {
  if (!signals_wait_) {
    const bool whole = signal_free_region::end();
    disturbed_ = whole ? 0 : disturbed_ + 1;
    return whole;
  }
  disturbed_ = 0;
  let_go();
  return true;
}

bool may_have_been_held(const void* at, size_t n) noexcept {
  const userfault* const faults = view_faults();
  if (errno != EFAULT || faults == nullptr || faults->lacks() == 0) return false;
  const auto begin = reinterpret_cast<uintptr_t>(at);
  const mapped_range r = mappings.first_in(begin, begin + std::max<size_t>(n, 1));
  if (r.file == nullptr || !r.file->stores_wait()) return false;
  for (unsigned spins = 0; held.load();) spin_pause(spins);
  return true;
}

void let_store_go_on(const userfault& faults, uintptr_t at) noexcept {
  // Waits for no thread (PAGEIN-2). A thread that is woken too early waits again, and is reported
  // again.
  for (unsigned spins = 0; held.load() && spins < spins_before_look;) spin_pause(spins);
  constexpr uintptr_t page = 4096;
  faults.wake(at & ~(page - 1), page);
}

no_page_held::no_page_held() noexcept {
  take();
}
no_page_held::~no_page_held() {
  held.store(false, std::memory_order_release);
}

void forget_held_pages() noexcept {
  held.store(false);
}

}  // namespace scute::core::interpose

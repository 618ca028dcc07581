// SPDX-License-Identifier: BSD-3-Clause
#include "pow/space.hpp"

#include <algorithm>
#include <functional>

#include "base/lock.hpp"
#include "base/planted.hpp"

namespace scute::core::pow {

space::space(const log::segment_layout& layout, uint64_t segment_size, uint64_t count,
             uint64_t most)
    : layout_(layout),
      size_(segment_size),
      most_(most < count ? count : most),
      notes_(new segment_note[most_]),
      count_(count) {
  const locked guard(lock_);
  free_.reserve(most_);
}

bool space::take(need kept, uint32_t& s) {
  const locked guard(lock_);
  if (free_.size() <= static_cast<size_t>(kept)) return false;
  s = free_.back();
  free_.pop_back();
  free_now_.store(free_.size(), std::memory_order_relaxed);
  segment_note& n = notes_[s];
  n.what.store(use::open, std::memory_order_relaxed);
  n.live.store(0, std::memory_order_relaxed);
  n.damaged.store(false, std::memory_order_relaxed);
  n.repaired.store(false, std::memory_order_relaxed);
  n.after.store(0xffffffffU, std::memory_order_relaxed);
  return true;
}

void space::give(uint32_t s) {
  const locked guard(lock_);
  notes_[s].what.store(use::free, std::memory_order_relaxed);
  free_.push_back(s);
  free_now_.store(free_.size(), std::memory_order_relaxed);
}

void space::grown_to(uint64_t count) {
  const locked guard(lock_);
  for (uint64_t s = count_.load(std::memory_order_relaxed); s < count; ++s)
    free_.push_back(static_cast<uint32_t>(s));
  count_.store(count, std::memory_order_release);
  free_now_.store(free_.size(), std::memory_order_relaxed);
}

uint64_t space::prefer_low() {
  const locked guard(lock_);
  std::sort(free_.begin(), free_.end(), std::greater<>());
  return free_.empty() ? count() : free_.back();
}

bool space::cut_to(uint64_t count) {
  const locked guard(lock_);
  const uint64_t now = count_.load(std::memory_order_relaxed);
  const auto above = [count](uint32_t s) { return s >= count; };
  if (static_cast<uint64_t>(std::ranges::count_if(free_, above)) != now - count &&
      !SCUTE_PLANTED(pow_cut_used))
    return false;
  std::erase_if(free_, above);
  count_.store(count, std::memory_order_release);
  free_now_.store(free_.size(), std::memory_order_relaxed);
  return true;
}

uint64_t space::live_bytes() const noexcept {
  int64_t sum = 0;
  for (uint64_t s = 0; s < count(); ++s) sum += notes_[s].live.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<uint64_t>(sum);
}

uint64_t space::used_bytes() const noexcept {
  uint64_t n = 0;
  for (uint64_t s = 0; s < count(); ++s)
    n += notes_[s].what.load(std::memory_order_relaxed) != use::free;
  return n * size_;
}

}  // namespace scute::core::pow

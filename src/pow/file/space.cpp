// SPDX-License-Identifier: BSD-3-Clause
#include "pow/file/space.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <type_traits>

#include "base/locks/lock.hpp"

namespace scute::core::pow {

space::space(const log::segment_layout& layout, uint64_t segment_size, uint64_t count,
             uint64_t most)
    : layout_(layout),
      size_(segment_size),
      most_(most < count ? count : most),
      notes_(static_cast<segment_note*>(std::calloc(most_, sizeof(segment_note)))),
      count_(count) {
  if (notes_ == nullptr) throw std::bad_alloc();
  make_notes(0, count);
  const locked guard(lock_);
  free_.reserve(most_);
}

void space::make_notes(uint64_t from, uint64_t to) noexcept {
  static_assert(std::is_trivially_destructible_v<segment_note>);
  for (uint64_t s = from; s < to; ++s) new (notes_.get() + s) segment_note;
}

uint64_t space::stays(need kept) const noexcept {
  const auto least = static_cast<uint64_t>(kept);
  if (kept != need::ordinary) return least;
  const uint64_t lanes = lanes_.load(std::memory_order_relaxed);
  return std::max(least, static_cast<uint64_t>(need::erasing) + std::min(lanes, count() / 16));
}

bool space::take(need kept, uint32_t& s) {
  const locked guard(lock_);
  if (free_.size() <= stays(kept)) return false;
  s = free_.back();
  free_.pop_back();
  free_now_.store(free_.size(), std::memory_order_relaxed);
  segment_note& n = note(s);
  n.what.store(use::open, std::memory_order_relaxed);
  n.live.store(0, std::memory_order_relaxed);
  n.packing.store(0, std::memory_order_relaxed);
  n.damaged.store(false, std::memory_order_relaxed);
  n.repaired.store(false, std::memory_order_relaxed);
  n.after.store(0xffffffffU, std::memory_order_relaxed);
  n.seal.store(0xffffffffU, std::memory_order_relaxed);
  n.loose = false;
  return true;
}

void space::give(uint32_t s) {
  const locked guard(lock_);
  note(s).what.store(use::free, std::memory_order_relaxed);
  free_.push_back(s);
  free_now_.store(free_.size(), std::memory_order_relaxed);
}

void space::grown_to(uint64_t count) {
  const locked guard(lock_);
  make_notes(count_.load(std::memory_order_relaxed), count);
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
  if (static_cast<uint64_t>(std::ranges::count_if(free_, above)) != now - count) return false;
  std::erase_if(free_, above);
  count_.store(count, std::memory_order_release);
  free_now_.store(free_.size(), std::memory_order_relaxed);
  return true;
}

uint64_t space::live_bytes() const noexcept {
  int64_t sum = 0;
  for (uint64_t s = 0; s < count(); ++s)
    sum += notes_.get()[s].live.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<uint64_t>(sum);
}

uint64_t space::used_bytes() const noexcept {
  const uint64_t all = count(), free = free_count();
  return all < free ? 0 : (all - free) * size_;
}

}  // namespace scute::core::pow

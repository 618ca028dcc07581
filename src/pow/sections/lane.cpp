// SPDX-License-Identifier: BSD-3-Clause
#include "pow/sections/lane.hpp"

#include <iterator>

#include "base/failure.hpp"

namespace scute::core::pow {

void lane::end_segment() noexcept {
  if (segment_ == 0xffffffffU) return;
  out_.end(w);
  out_.end();
  space_.note(segment_).what.store(use::full, std::memory_order_release);
  space_.add_unsealed(segment_);
  segment_ = 0xffffffffU;
}

void lane::end_segment_durably() noexcept {
  end_segment();
  w.fence(fence_site::pow_ends);
}

void lane::begin(uint32_t s, bool spanned) {
  segment_note& n = space_.note(s);
  n.after.store(0xffffffffU, std::memory_order_relaxed);
  if (spanned && segment_ != 0xffffffffU) {
    pinned_.push_back(segment_);
    space_.note(segment_).pinned.store(true, std::memory_order_relaxed);
    n.after.store(segment_, std::memory_order_relaxed);
  }
  end_segment();
  n.lane = number_;
  n.session = session_;
  // SEG-2: within a session and lane no generation recurs.
  n.generation = ++generation_;
  segment_ = s;
  out_.begin(w, space_.place(s), generation_, next_number());
}

void lane::finish() noexcept {
  finished_.store(next_number(), std::memory_order_release);
}

void lane::unpin() noexcept {
  for (const uint32_t s : pinned_) space_.note(s).pinned.store(false, std::memory_order_release);
  pinned_.clear();
}

uint64_t lane::append(byte_buffer& image, frame_kind kind, uint32_t named, uint64_t version,
                      uint32_t part, log::stores how) {
  const uint64_t number = next_number();
  const uint64_t size = image.size();
  // A part reserves room for an abort trailer, which must not fail.
  if (how == log::stores::cached && kind != frame_kind::abort) {
    const locked guard(lock_);
    if (cached_.size() + 2 > cached_.capacity()) cached_.reserve(cached_.size() * 2 + 8);
  }
  const uint64_t behind = number - durable_.load(std::memory_order_acquire);
  const uint64_t position = out_.append(w, image, make_flags(kind, named, behind), version,
                                        make_transaction(number, part), how);
  bytes_written.store(bytes_written.load(std::memory_order_relaxed) + size,
                      std::memory_order_relaxed);
  if (how == log::stores::cached) {
    const uint64_t end = position + space_.layout().lines_of(size);
    const locked guard(lock_);
    if (!cached_.empty() && cached_.back().segment == segment_ && cached_.back().to == position) {
      cached_.back().to = end;
      cached_.back().number = number;
    } else {
      cached_.push_back({segment_, position, end, number, ++last_id_});
    }
  }
  return position;
}

void lane::write_back(medium::writer& with) {
  writing_back_.fetch_add(1, std::memory_order_acquire);
  // A few at a time, so that this needs no memory: a commit that has already happened must not
  // fail.
  lines some[32];
  size_t n = std::size(some);
  for (uint64_t last = 0; n == std::size(some); last = n == 0 ? 0 : some[n - 1].id) {
    n = 0;
    {
      const locked guard(lock_);
      for (const lines& l : cached_)
        if (l.id > last && n < std::size(some)) some[n++] = l;
    }
    for (size_t i = 0; i < n; ++i)
      log::write_back(with, base_, space_.layout(), space_.place(some[i].segment), some[i].from,
                      some[i].to);
    switch_point();
  }
  writing_back_.fetch_sub(1, std::memory_order_release);
}

void lane::forget_from(uint64_t count) noexcept {
  {
    const locked guard(lock_);
    std::erase_if(cached_, [&](const lines& l) { return l.segment >= count; });
  }
  for (unsigned spins = 0; writing_back_.load(std::memory_order_acquire) != 0;) spin_pause(spins);
}

void lane::raise(uint64_t number) noexcept {
  uint64_t before = durable_.load(std::memory_order_relaxed);
  while (before < number &&
         !durable_.compare_exchange_weak(before, number, std::memory_order_acq_rel)) {
  }
}

void lane::confirm_to(uint64_t number) noexcept {
  raise(number);
  const locked guard(lock_);
  std::erase_if(cached_, [&](const lines& l) { return l.number <= number; });
}

}  // namespace scute::core::pow

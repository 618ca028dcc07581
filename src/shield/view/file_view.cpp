// SPDX-License-Identifier: BSD-3-Clause
#include "shield/view/file_view.hpp"

#include <algorithm>
#include <bit>
#include <thread>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "shield/view/commit_set.hpp"
#include "shield/view/view_call.hpp"

namespace scute::core::view {

region_shape file_view::shape_for(const backing& medium, uint64_t capacity) {
  const size_t lines = std::min(medium.lines_max(), lines_most);
  if (lines < lines_least)
    throw failure(SCUTE_E_INVALID, "the backing of a view takes too few lines in one commit");
  region_shape s;
  s.capacity = std::max(capacity, page_size);
  s.lists = lines >= 4096 ? 8 : 2;
  s.entries = static_cast<uint32_t>(std::bit_floor(lines / 6 / s.lists));  // VIEW-4
  return s;
}

file_view::file_view(const view_parts& parts)
    : region_(parts.control),
      parts_(parts),
      commit_set_(std::make_unique<commit_set>(region_, parts.bytes, *parts.medium, parts.guard,
                                               parts.watch)),
      batch_(std::make_unique<uint64_t[]>(commit_set_->room())),
      room_(std::make_unique<line[]>(pages_at_once * page_lines)) {
  const uint64_t size = parts.medium->size();
  if (size > region_.shape().capacity || size < region_.file_size())
    throw failure(SCUTE_E_INVALID, "a view and its backing have different sizes");
}

file_view::~file_view() = default;

uint64_t file_view::size() const noexcept {
  return region_.file_size();
}

// Threads get the lists in turn. If there are more threads than lists, they share.
flush_list& file_view::list_of(flusher& by) noexcept {
  if (!by.in_list_) {
    static std::atomic<unsigned> turn;
    by.list_ = turn.fetch_add(1, std::memory_order_relaxed) % region_.shape().lists;
    by.in_list_ = true;
  }
  return region_.list(by.list_);
}

bool file_view::flush_line(flusher& by, uint64_t line, bool nested) noexcept {
  if (region_.page(line / page_lines).load(std::memory_order_acquire) == page_state::absent)
    return true;
  if (!nested)
    for (unsigned spins = 0; commit_set_->gate_closed();) spin_pause(spins);  // VIEW-5
  flush_list& list = list_of(by);
  const uint32_t entries = region_.shape().entries;
  auto& recent = by.listed_[line % flusher::recent];
  // VIEW-2
  const bool again = region_.pending_set(line);
  if (parts_.watch != nullptr) {
    parts_.watch->flushed(line, again);
    note_contents(line);
  }
  if (again) {
    commit_set_->count(counted::flushed_twice, 1, by.list_);
    uint64_t listed = 0;
    const uint64_t p = recent.load(std::memory_order_relaxed);
    if (p != 0 && list.at(p - 1, entries, listed) && listed == line && list.taken() < p)
      return true;
  }
  switch_point();
  uint64_t position = 0;
  while (!list.put(line, entries, position)) {
    if (nested) {
      region_.head().scan.store(1);  // the mark is set, so the scan finds the line
      return true;
    }
    const locked hold(commit_set_->lock);
    if (list.end(entries) - list.taken() < entries) continue;
    commit_set_->count(counted::lists_full, 1, by.list_);
    if (!commit_set_->make({})) return false;
  }
  recent.store(position + 1, std::memory_order_relaxed);
  return true;
}

bool file_view::flush(flusher& by, uint64_t offset, uint64_t n) noexcept {
  const uint64_t size = region_.file_size();
  if (n == 0 || offset >= size) return true;
  const uint64_t last = line_of(offset + std::min(n, size - offset) - 1);
  view_call call(by);
  bool done = true;
  commit_set_->count(counted::flushed, last - line_of(offset) + 1, by.in_list_ ? by.list_ : 0);
  for (uint64_t line = line_of(offset); line <= last; ++line)
    done = flush_line(by, line, call.nested()) && done;
  return call.leave(done, [&] { return noted_fence(by); });
}

bool file_view::fence_now(flusher& by) noexcept {
  flush_list& list = list_of(by);
  const auto is_done = [&] {
    const auto& upto = list.decided();
    return upto.load(std::memory_order_acquire) >= list.end(region_.shape().entries) &&
           region_.head().scan.load() == 0;
  };
  const bool idle = is_done();
  commit_set_->count(counted::fences, 1, by.list_);
  if (parts_.watch != nullptr) parts_.watch->fenced(idle);
  if (idle) {
    commit_set_->count(counted::fences_idle, 1, by.list_);
    return true;
  }
  const locked hold(commit_set_->lock);
  // Another thread's commit set may have taken the lines.
  return is_done() || commit_set_->make({});
}

// Defers the fence in a window. The thread has no other call under way.
bool file_view::fence_or_defer(flusher& by) noexcept {
  if (by.windows_ == 0) return fence_now(by);
  by.fence_deferred_.store(true);
  if (parts_.watch != nullptr && by.in_list_) note_put_off(region_.list(by.list_));
  commit_set_->count(counted::fences_deferred, 1, by.in_list_ ? by.list_ : 0);
  return true;
}

// A fence that a handler has requested.
bool file_view::noted_fence(flusher& by) noexcept {
  return fence_or_defer(by);
}

bool file_view::fence(flusher& by) noexcept {
  view_call call(by);
  if (call.nested()) {
    by.fence_noted_.store(true);
    commit_set_->count(counted::fences_deferred, 1, by.in_list_ ? by.list_ : 0);
    return true;
  }
  return call.leave(fence_or_defer(by), [&] { return noted_fence(by); });
}

void file_view::window_begin(flusher& by) noexcept {
  ++by.windows_;
}

bool file_view::window_end(flusher& by) noexcept {
  SCUTE_ASSERT(by.windows_ != 0);
  if (--by.windows_ != 0) return true;
  if (!by.fence_deferred_.exchange(false)) return true;
  return fence(by);
}

audit_counters file_view::counters() const noexcept {
  uint64_t sums[counter_count] = {};
  for (unsigned list = 0; list < region_.shape().lists; ++list)
    for (size_t i = 0; i < counter_count; ++i)
      sums[i] += region_.counters(list)[i].load(std::memory_order_relaxed);
  audit_counters c;
  static_assert(sizeof c == sizeof sums);
  std::memcpy(&c, sums, sizeof c);
  return c;
}

}  // namespace scute::core::view

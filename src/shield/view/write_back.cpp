// SPDX-License-Identifier: BSD-3-Clause
// Writes whole ranges from the view to the medium.
#include <algorithm>
#include <cstring>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "shield/view/different.hpp"
#include "shield/view/view_call.hpp"

namespace scute::core::view {

bool file_view::write_back(flusher* by, uint64_t offset, uint64_t n, write_reason why) {
  if (by == nullptr) return write_differences(offset, n, why);
  view_call call(*by);
  SCUTE_ASSERT(!call.nested());
  return call.leave(write_differences(offset, n, why), [&] { return noted_fence(*by); });
}

bool file_view::write_differences(uint64_t offset, uint64_t n, write_reason why) {
  const locked hold(commit_set_->lock);
  const bool sync = why == write_reason::sync;
  if (!sync && !is_halted()) count_unfenced(find_unfenced(offset, n));
  // First the flushed lines, in one commit set. The lines that still differ then were not flushed.
  if (!commit_set_->make({})) return false;
  const bool done = commit_different(offset, n, [&](uint64_t line) {
    if (sync)
      commit_set_->count(counted::synced);
    else
      count_left(line, left_as::never_flushed);
  });
  if (!done) return false;
  if (sync)
    forget_contents(offset, n);
  else
    count_early(offset, n);
  return true;
}

bool file_view::grow(uint64_t size, const std::function<void()>& make_room) {
  if (size > region_.shape().capacity) return false;
  // The last page changes, so it must be loaded; before the lock, so that a thread waiting for the
  // commit set cannot keep the page from being placed.
  if (const uint64_t now = this->size(); now % page_size != 0 && !load(now - 1, 1)) return false;
  const locked hold(commit_set_->lock);
  const uint64_t before = region_.file_size();
  if (size <= before) return size == before;
  if (!parts_.medium->grow(size)) return false;
  if (make_room) make_room();
  // Nothing is written here: another process may be appending at this place (GROW-1).
  // VIEW-8: the pages count as loaded before they belong to the file. Otherwise bytes appended to
  // them would count as nothing after a death.
  for (uint64_t page = (before + page_size - 1) / page_size; page * page_size < size; ++page) {
    auto& state = region_.page(page);
    if (state.load(std::memory_order_relaxed) == page_state::absent)
      state.store(page_state::zeros, std::memory_order_release);
  }
  region_.head().size.store(size);
  return true;
}

}  // namespace scute::core::view

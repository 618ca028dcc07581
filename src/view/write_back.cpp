// SPDX-License-Identifier: BSD-3-Clause
// What brings whole ranges from the view to the medium.
#include <algorithm>
#include <cstring>

#include "base/failure.hpp"
#include "base/lock.hpp"
#include "view/different.hpp"
#include "view/view_call.hpp"

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
  // First what was flushed, in one commit set; so that what differs then was not.
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
  // The last page changes. (Nobody who waits for the commit set may keep it from coming.)
  if (const uint64_t now = this->size(); now % page_size != 0 && !load(now - 1, 1)) return false;
  const locked hold(commit_set_->lock);
  const uint64_t before = region_.file_size();
  if (size <= before) return size == before;
  if (!parts_.medium->grow(size)) return false;
  if (make_room) make_room();
  // Nothing is written here: it could be where somebody appends (GROW-1).
  if (SCUTE_PLANTED(grow_clears))
    std::memset(parts_.bytes + before, 0,
                std::min(size, (before / page_size + 1) * page_size) - before);
  // VIEW-8: loaded before they are of the file, or what was appended to them would count as nothing
  //         after a death.
  for (uint64_t page = (before + page_size - 1) / page_size; page * page_size < size; ++page) {
    auto& state = region_.page(page);
    if (state.load(std::memory_order_relaxed) == page_state::absent)
      state.store(page_state::zeros, std::memory_order_release);
  }
  region_.head().size.store(size);
  return true;
}

}  // namespace scute::core::view

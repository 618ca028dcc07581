// SPDX-License-Identifier: BSD-3-Clause
// Lines of a view that differ from the medium, flushed or not (SHIELD-4). The caller holds the
// commit lock.
#pragma once

#include <algorithm>

#include "shield/view/commit_set.hpp"
#include "shield/view/file_view.hpp"

namespace scute::core::view {

template <typename Fn>
bool file_view::for_each_different(uint64_t offset, uint64_t n, Fn&& fn) {
  commit_set_->lock.assume_held();
  const uint64_t size = this->size();
  if (n == 0 || offset >= size) return true;
  const uint64_t end = lines_of(offset + std::min(n, size - offset));
  uint64_t stored = 0;  // bytes
  for (uint64_t i = line_of(offset); i < end; ++i) {
    const uint64_t page = i / page_lines;
    const page_state state = region_.page(page).load(std::memory_order_acquire);
    if (state == page_state::zeros && stored <= page * page_size)
      stored = next_stored(page * page_size);
    if (state == page_state::absent ||
        (state == page_state::zeros && stored >= (page + 1) * page_size)) {
      i |= page_lines - 1;
      continue;
    }
    line now, old;
    if (!commit_set_->view_line(i, now)) continue;
    // Most lines end here, without a read of the medium.
    if (region_.digest_of(now) == region_.digest(i).load(std::memory_order_relaxed)) continue;
    if (!commit_set_->old_line(i, old)) return false;
    if (now == old) continue;
    if (!fn(i, now)) return false;
  }
  return true;
}

// Commits these lines in commit sets of their own, each together with all flushed lines. The
// program did not flush these lines, so they have no order among themselves.
template <typename Fn>
bool file_view::commit_different(uint64_t offset, uint64_t n, Fn&& on_line) {
  size_t count = 0;
  const auto commit = [&] {
    commit_set_->lock.assume_held();
    const size_t had = count;
    count = 0;
    if (had != 0 && !commit_set_->make({batch_.get(), had})) return false;
    for (size_t i = 0; i < had; ++i) on_line(batch_[i]);
    return true;
  };
  const bool done = for_each_different(offset, n, [&](uint64_t line, const struct line&) {
    batch_[count++] = line;
    return count < commit_set_->room() || commit();
  });
  return done && commit();
}

}  // namespace scute::core::view

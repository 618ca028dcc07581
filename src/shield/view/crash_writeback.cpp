// SPDX-License-Identifier: BSD-3-Clause
// How a supervisor treats the region of a process that has died (VIEW-1, VIEW-3, VIEW-6, VIEW-8).
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "shield/view/different.hpp"

namespace scute::core::view {

// The commit set under way may have been decided or not, so the digests of its lines may be of its
// old or of its new bytes. So this reads the lines from the backing, makes their digests again, and
// marks all of them for the next commit set.
bool file_view::renew(uint64_t& flushed) {
  const uint64_t words = lines_of(size() + 63 * line_size) / 64;
  for (uint64_t i = 0; i < words; ++i) {
    const uint64_t in_set = region_.in_set_word(i);
    flushed += static_cast<uint64_t>(std::popcount(in_set | region_.pending_word(i)));
    for (uint64_t bits = in_set; bits != 0; bits &= bits - 1) {
      const uint64_t line = 64 * i + static_cast<uint64_t>(std::countr_zero(bits));
      // VIEW-10: in the process itself, after a failure of its backing
      if (commit_set_->is_doubtful()) {
        region_.pending_set(line);
        continue;
      }
      // The line was flushed and its page evicted, since the medium holds the same bytes (VIEW-12).
      if (region_.page(line / page_lines).load() == page_state::absent) {
        region_.pending_clear(line);
        region_.in_set_clear(line);
        continue;
      }
      struct line old = {};
      const uint64_t at = line * line_size;
      if (at < size()) {
        if (!parts_.medium->read(at, {old.bytes.data(), std::min(line_size, size() - at)}))
          return false;
        commit_set_->keep_digest(line, region_.digest_of(old));
      }
      region_.pending_set(line);
      region_.in_set_clear(line);
    }
    if (region_.head().halted.load() == 0) continue;
    for (uint64_t bits = region_.pending_word(i); bits != 0; bits &= bits - 1)
      region_.pending_clear(64 * i + static_cast<uint64_t>(std::countr_zero(bits)));
  }
  for (unsigned i = 0; i < region_.shape().lists; ++i) {
    // All entries that were not taken have marks, so the lists can be emptied.
    flush_list& list = region_.list(i);
    const uint64_t end = list.end(region_.shape().entries);
    list.taken().store(end);
    list.decided().store(end);
  }
  region_.head().scan.store(region_.head().halted.load() == 0 ? 1 : 0);
  return true;
}

bool file_view::crash_writeback(unflushed_lines what, writeback_result& result,
                                const dropped_line& dropped) {
  result = {};
  const locked hold(commit_set_->lock);
  decide_coming();
  result.unintercepted = first_unintercepted(0, size());
  // Found while the lists still have the entries; counted when the digests match the medium
  // (AUDIT-8).
  const size_t unfenced = find_unfenced(0, size());
  if (!renew(result.flushed)) return false;
  if (!is_halted()) count_unfenced(unfenced);
  bool done = true;
  while (done && region_.head().scan.load() != 0) done = commit_set_->make({});
  if (done && what == unflushed_lines::commit && !is_halted())
    done = commit_different(0, size(), [&](uint64_t line) {
      ++result.unflushed;
      count_left(line, left_as::never_flushed);
    });
  if (!done && !is_halted()) return false;
  if (what == unflushed_lines::commit && !is_halted()) {
    count_early(0, size());
    return true;
  }
  // VIEW-9; also if the view was halted just now.
  if (is_halted()) {
    result = {.unintercepted = result.unintercepted};
    uint64_t unused = 0;
    if (!renew(unused)) return false;
  }
  result.dropped = true;
  const bool dropped_all =
      for_each_different(0, size(), [&](uint64_t line, const struct line& now) {
        commit_set_->lock.assume_held();
        ++result.unflushed;
        forget_contents(line);
        const uint64_t at = line * line_size, n = std::min(line_size, size() - at);
        if (dropped) dropped(at, {now.bytes.data(), n});
        struct line old;
        if (!commit_set_->old_line(line, old)) return false;
        std::memcpy(parts_.bytes + at, old.bytes.data(), n);
        return true;
      });
  if (!dropped_all) return false;
  if (!is_halted()) count_early(0, size());
  return true;
}

}  // namespace scute::core::view

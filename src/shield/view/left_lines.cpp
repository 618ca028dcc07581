// SPDX-License-Identifier: BSD-3-Clause
// Lines that the program did not make durable itself: those that it flushed but did not fence, and
// those that it flushed too early (AUDIT-6, AUDIT-7).
#include <algorithm>
#include <bit>

#include "shield/view/commit_set.hpp"
#include "shield/view/file_view.hpp"

namespace scute::core::view {
namespace {

// Calls fn for the lines from the first to the last whose contents at the last flush are known.
template <typename Fn>
void for_each_known(const flushed_contents& contents, uint64_t first, uint64_t last, Fn&& fn) {
  for (uint64_t word = first / 64; word <= last / 64; ++word)
    for (uint64_t bits = contents.known(word); bits != 0; bits &= bits - 1) {
      const uint64_t line = 64 * word + static_cast<uint64_t>(std::countr_zero(bits));
      if (line >= first && line <= last) fn(line);
    }
}

}  // namespace

// Also called in handlers.
void file_view::note_contents(uint64_t line) noexcept {
  flushed_contents* const contents = parts_.watch->contents();
  if (contents == nullptr) return;
  contents->note(line, [&](uint64_t& digest) {
    uint64_t words[8];
    if (!read_now(line, words)) return false;
    digest = region_.digest_of(words);
    return true;
  });
}

// Threads that share a list may come here in any order.
void file_view::note_put_off(flush_list& list) noexcept {
  const uint64_t end = list.end(region_.shape().entries);
  uint64_t before = list.fenced().load(std::memory_order_relaxed);
  while (before < end && !list.fenced().compare_exchange_weak(before, end)) {
  }
}

void file_view::forget_contents(uint64_t line) noexcept {
  if (parts_.watch == nullptr) return;
  if (flushed_contents* const contents = parts_.watch->contents()) contents->forget(line);
}

void file_view::forget_contents(uint64_t offset, uint64_t n) noexcept {
  const uint64_t size = this->size();
  if (parts_.watch == nullptr || n == 0 || offset >= size) return;
  flushed_contents* const contents = parts_.watch->contents();
  if (contents == nullptr) return;
  const uint64_t first = line_of(offset), last = line_of(offset + std::min(n, size - offset) - 1);
  for_each_known(*contents, first, last, [&](uint64_t line) { contents->forget(line); });
}

void file_view::count_left(uint64_t line, left_as how) noexcept {
  forget_contents(line);
  const uint64_t at = line * line_size;
  const bool masked =
      parts_.sink != nullptr &&
      parts_.sink->left(at, static_cast<uint32_t>(std::min(line_size, size() - at)), how);
  if (how == left_as::never_fenced) {
    if (!masked) commit_set_->count(counted::never_fenced);
    return;
  }
  commit_set_->count(counted::never_flushed);
  if (masked)
    commit_set_->count(counted::masked);
  else if (how == left_as::flushed_early)
    commit_set_->count(counted::flushed_early);
}

// AUDIT-6. Collects the lines in the batch, which has room for the entries of all lists. This
// function and the two below run with the commit lock held.
size_t file_view::find_unfenced(uint64_t offset, uint64_t n) noexcept {
  const uint64_t size = this->size();
  if (parts_.watch == nullptr || parts_.watch->contents() == nullptr || n == 0 || offset >= size)
    return 0;
  const uint64_t first = line_of(offset), last = line_of(offset + std::min(n, size - offset) - 1);
  const uint32_t entries = region_.shape().entries;
  size_t found = 0;
  for (unsigned i = 0; i < region_.shape().lists; ++i) {
    flush_list& list = region_.list(i);
    const uint64_t taken = list.taken().load();
    uint64_t line = 0;
    for (uint64_t p = std::max(taken, list.fenced().load());
         p < taken + entries && list.at(p, entries, line); ++p)
      if (line >= first && line <= last && (region_.pending_word(line / 64) >> line % 64 & 1) != 0)
        batch_[found++] = line;
  }
  std::sort(batch_.get(), batch_.get() + found);
  return static_cast<size_t>(std::unique(batch_.get(), batch_.get() + found) - batch_.get());
}

// Counts the lines that find_unfenced() has collected. The digests are those of the medium by now.
void file_view::count_unfenced(size_t n) noexcept {
  commit_set_->lock.assume_held();
  for (size_t i = 0; i < n; ++i) {
    const uint64_t line = batch_[i];
    struct line now;
    if (commit_set_->view_line(line, now) &&
        region_.digest_of(now) != region_.digest(line).load(std::memory_order_relaxed))
      count_left(line, left_as::never_fenced);
  }
}

// AUDIT-7. Lines that differ from the medium were counted before.
void file_view::count_early(uint64_t offset, uint64_t n) noexcept {
  commit_set_->lock.assume_held();
  const uint64_t size = this->size();
  if (parts_.watch == nullptr || n == 0 || offset >= size) return;
  flushed_contents* const contents = parts_.watch->contents();
  if (contents == nullptr) return;
  const uint64_t first = line_of(offset), last = line_of(offset + std::min(n, size - offset) - 1);
  for_each_known(*contents, first, last, [&](uint64_t line) {
    commit_set_->lock.assume_held();
    struct line now;
    if (commit_set_->view_line(line, now) && !contents->was(line, region_.digest_of(now)))
      count_left(line, left_as::flushed_early);
  });
}

}  // namespace scute::core::view

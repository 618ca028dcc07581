// SPDX-License-Identifier: BSD-3-Clause
#include "shield/view/commit_set.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "base/failure.hpp"
#include "shield/view/line_copy.hpp"

namespace scute::core::view {
namespace {

constexpr unsigned rounds_max = 8;

// A word to sort by: the line, then the line's index in the commit set.
constexpr unsigned index_bits = 16;
static_assert(lines_most <= uint64_t{1} << index_bits && flush_list::line_bits + index_bits <= 64);

// Short lists are nearly in order, since lines are mostly flushed one after the other.
void sort(std::span<uint64_t> words) noexcept {
  if (words.size() > 48) return std::sort(words.begin(), words.end());
  for (size_t i = 1; i < words.size(); ++i) {
    const uint64_t x = words[i];
    size_t at = i;
    for (; at != 0 && x < words[at - 1]; --at) words[at] = words[at - 1];
    words[at] = x;
  }
}

}  // namespace

commit_set::commit_set(const region& r, std::byte* bytes, backing& medium, page_guard* guard,
                       line_watch* watch)
    : region_(r), bytes_(bytes), medium_(medium), guard_(guard), watch_(watch) {
  // Called in any case, so that the processor is known before a handler needs to know it.
  if (!line_copy_whole() && guard == nullptr)
    throw failure(SCUTE_E_INVALID,
                  "this processor has no load of a whole line, and no guard of pages was given");
  lines_max_ = std::min(medium.lines_max(), lines_most);
  listed_max_ = size_t{r.shape().lists} * r.shape().entries;
  if (lines_max_ < lines_least || listed_max_ > lines_max_ / 6)
    throw failure(SCUTE_E_INVALID, "the backing of a view takes too few lines in one commit");
  const size_t table = std::bit_ceil(2 * lines_max_);
  table_mask_ = table - 1;
  mapped_ = lines_max_ * (3 * sizeof(line) + 3 * sizeof(uint64_t) + sizeof(change) +
                          sizeof(uint32_t) + 2 * sizeof(bool)) +
            table * sizeof(slot);
  void* at = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw_errno("map memory for the commit sets of a view", errno);
  memory_ = static_cast<std::byte*>(at);
  std::byte* next = memory_;
  const auto place = [&]<typename T>(T*& to, size_t n) {
    to = reinterpret_cast<T*>(next);
    next += n * sizeof(T);
  };
  place(copies_, lines_max_);
  place(old_, lines_max_);
  place(new_, lines_max_);
  place(lines_, lines_max_);
  place(order_, lines_max_);
  place(digests_, lines_max_);
  place(changes_, lines_max_);
  place(table_, table);
  place(fresh_, lines_max_);
  place(stale_, lines_max_);
  place(untouched_, lines_max_);
}

commit_set::~commit_set() {
  ::munmap(memory_, mapped_);
}

void commit_set::count(counted what, uint64_t n, unsigned list) const noexcept {
  region_.counters(list)[static_cast<unsigned>(what)].fetch_add(n, std::memory_order_relaxed);
}

uint32_t commit_set::length_of(uint64_t line) const noexcept {
  const uint64_t offset = line * line_size, size = region_.file_size();
  return static_cast<uint32_t>(offset >= size ? 0 : std::min(line_size, size - offset));
}

// The line's slot in the table, or the one that it would get.
uint64_t commit_set::find(uint64_t line) const noexcept {
  uint64_t i = (line * 0x9e3779b97f4a7c15 >> 20) & table_mask_;
  while (table_[i].generation == generation_ && lines_[table_[i].index] != line)
    i = (i + 1) & table_mask_;
  return i;
}

// Adds the line to the commit set, to be copied. Returns false if there is no room.
bool commit_set::add(uint64_t line) noexcept {
  return add(line, table_[find(line)]);
}

bool commit_set::add(uint64_t line, slot& s) noexcept {
  if (s.generation != generation_) {
    if (count_ == most_) return false;
    s = {generation_, static_cast<uint32_t>(count_)};
    lines_[count_] = line;
    stale_[count_++] = false;
    __builtin_prefetch(&region_.digest(line), 1);
  }
  if (!stale_[s.index]) {
    stale_[s.index] = true;
    fresh_[fresh_count_++] = s.index;
  }
  return true;
}

// VIEW-2, VIEW-3; the entry already counts as taken.
void commit_set::take(uint64_t line) noexcept {
  slot& s = table_[find(line)];
  const bool known = s.generation == generation_;
  const bool marked = region_.pending_clear(line);
  if (!marked) {
    if (!known) region_.in_set_clear(line);
    return;
  }
  switch_point();
  SCUTE_ASSERT(add(line, s));  // there is room for a whole round (make())
}

// Takes the entries of all lists. Returns true if there were any.
bool commit_set::take_listed() noexcept {
  const uint32_t entries = region_.shape().entries;
  bool any = false;
  for (unsigned i = 0; i < region_.shape().lists; ++i) {
    flush_list& list = region_.list(i);
    uint64_t p = list.taken().load(std::memory_order_relaxed), line = 0;
    const uint64_t most = p + entries;
    for (; p < most && count_ < most_ && list.at(p, entries, line); ++p) {
      any = true;
      region_.in_set_set(line);
      list.taken().store(p + 1, std::memory_order_release);
      switch_point();
      take(line);
    }
  }
  return any;
}

// Takes all marked lines, listed or not: after a failed commit set, or if a handler found its list
// full.
bool commit_set::take_marked() noexcept {
  uint32_t wanted = 1;
  if (!region_.head().scan.compare_exchange_strong(wanted, 2)) return false;
  const uint64_t words = lines_of(region_.file_size() + 63 * line_size) / 64;
  for (uint64_t i = 0; i < words; ++i)
    for (uint64_t bits = region_.pending_word(i); bits != 0; bits &= bits - 1) {
      const uint64_t line = 64 * i + static_cast<uint64_t>(std::countr_zero(bits));
      if (count_ == most_ && table_[find(line)].generation != generation_) {
        region_.head().scan.store(1);  // the next commit set continues
        return true;
      }
      region_.in_set_set(line);
      region_.pending_clear(line);
      switch_point();
      SCUTE_ASSERT(add(line));
    }
  return true;
}

bool commit_set::view_line(uint64_t line, struct line& to) noexcept {
  const auto& page = region_.page(line / page_lines);
  page_state is = page.load(std::memory_order_acquire);
  for (unsigned spins = 0; is == page_state::coming; is = page.load(std::memory_order_acquire))
    spin_pause(spins);
  if (is == page_state::absent) return false;
  line_copy(to, bytes_ + line * line_size);
  const uint32_t n = length_of(line);
  if (n < line_size) std::memset(to.bytes.data() + n, 0, line_size - n);
  return true;
}

void commit_set::copy_one(uint32_t index) noexcept {
  stale_[index] = false;
  untouched_[index] = !view_line(lines_[index], copies_[index]);
  switch_point();
}

void commit_set::copy_by_page() noexcept {
  // So that each page is held once.
  std::sort(fresh_, fresh_ + fresh_count_,
            [&](uint32_t a, uint32_t b) { return lines_[a] < lines_[b]; });
  uint64_t held = UINT64_MAX;  // page
  const auto let_go = [&] {
    if (held != UINT64_MAX) guard_->release(held * page_size, page_size);
  };
  for (size_t k = 0; k < fresh_count_; ++k) {
    const uint64_t page = lines_[fresh_[k]] / page_lines;
    if (page != held) {
      let_go();
      held = page;
      // Without the guard the copy could be torn.
      SCUTE_ASSERT(guard_->hold(page * page_size, page_size));
    }
    copy_one(fresh_[k]);
  }
  let_go();
}

void commit_set::copy_all() noexcept {
  for (size_t k = 0; k < fresh_count_; ++k) copy_one(fresh_[k]);
}

void commit_set::copy_fresh() noexcept {
  if (line_copy_whole()) {
    copy_all();
  } else {
    bool copied = false;
    while (!copied && guard_->hold_all()) {
      copy_all();
      copied = guard_->release_all();
    }
    if (!copied) copy_by_page();
  }
  fresh_count_ = 0;
  // The lists are read after this, by loads that must not come sooner.
  std::atomic_thread_fence(std::memory_order_acquire);
}

// Returns null if the backing does not expose these bytes.
const std::byte* commit_set::raw(uint64_t line) noexcept {
  const uint64_t at = line * line_size, n = length_of(line);
  if (n == 0) return nullptr;
  if (at < seen_at_ || at - seen_at_ + n > seen_.size()) {
    seen_at_ = at;
    seen_ = medium_.raw(at);
    if (n > seen_.size()) return nullptr;
  }
  return seen_.data() + (at - seen_at_);
}

bool commit_set::old_line(uint64_t line, struct line& to) noexcept {
  const uint32_t n = length_of(line);
  if (n < line_size) to = {};
  const std::byte* from = raw(line);
  if (from == nullptr) return medium_.read(line * line_size, {to.bytes.data(), n});
  std::memcpy(to.bytes.data(), from, n);
  return true;
}

// Orders the lines whose copies have another digest than the medium's bytes. Reads no other bytes
// of the medium.
size_t commit_set::find_changed() noexcept {
  size_t changed = 0, unchanged = 0;
  for (size_t i = 0; i < count_; ++i) {
    const uint64_t line = lines_[i];
    if (untouched_[i]) {
      ++unchanged;
      if (watch_ != nullptr) watch_->commit_set_has(line, false);
      continue;
    }
    digests_[i] = region_.digest_of(copies_[i]);
    if (length_of(line) == 0) continue;  // after the end of the file
    if (!doubtful_ && digests_[i] == region_.digest(line).load(std::memory_order_relaxed)) {
      ++unchanged;
      if (watch_ != nullptr) watch_->commit_set_has(line, false);
      continue;
    }
    order_[changed++] = line << index_bits | i;
    __builtin_prefetch(raw(line));
  }
  if (unchanged != 0) count(counted::unchanged, unchanged);
  return changed;
}

// VIEW-6
bool commit_set::add_change(uint32_t index) noexcept {
  const uint64_t line = lines_[index];
  const uint32_t n = length_of(line);
  struct line& old = old_[change_count_];
  if (!old_line(line, old)) return false;
  if (region_.digest_of(old) != region_.digest(line).load(std::memory_order_relaxed)) {
    count(counted::damaged);
    // After a repair the bytes are read through the verifying path, as no digest is left to test
    // them with.
    if (!medium_.repair(line * line_size, n) ||
        !medium_.read(line * line_size, {old.bytes.data(), n}))
      return false;
  }
  if (watch_ != nullptr) watch_->commit_set_has(line, old != copies_[index]);
  new_[change_count_] = copies_[index];
  changes_[change_count_] = {line * line_size, new_[change_count_].bytes.data(), old.bytes.data(),
                             n};
  ++change_count_;
  return true;
}

bool commit_set::commit() noexcept {
  const size_t changed = find_changed();
  sort({order_, changed});  // BACKING-3
  change_count_ = 0;
  for (size_t k = 0; k < changed; ++k)
    if (!add_change(static_cast<uint32_t>(order_[k] & ((1u << index_bits) - 1)))) return false;
  switch_point();
  if (watch_ != nullptr && !watch_->may_commit()) {
    region_.head().halted.store(1);
    return false;
  }
  if (change_count_ != 0) {
    doubtful_ = !medium_.commit({changes_, change_count_});
    if (doubtful_) return false;
  }
  count(counted::commit_sets);
  count(counted::lines, change_count_);
  return true;
}

void commit_set::keep_digest(uint64_t line, uint64_t digest) noexcept {
  auto& kept = region_.digest(line);
  if (kept.load(std::memory_order_relaxed) == digest) return;
  auto& page = region_.page(line / page_lines);
  if (page.load(std::memory_order_relaxed) != page_state::loaded)
    page.store(page_state::loaded, std::memory_order_release);
  kept.store(digest, std::memory_order_release);
}

void commit_set::finish(bool decided) noexcept {
  if (!decided) {
    // VIEW-1: the lines are marked again before they leave the in-set bits; from now on they are
    // found by their marks.
    for (size_t i = 0; i < count_; ++i) region_.pending_set(lines_[i]);
    region_.head().scan.store(1);
  }
  for (size_t i = 0; i < count_; ++i) {
    if (decided && !untouched_[i]) keep_digest(lines_[i], digests_[i]);
    if (decided && watch_ != nullptr) watch_->commit_set_decided(lines_[i]);
    if (!doubtful_) region_.in_set_clear(lines_[i]);  // VIEW-10
  }
  if (!decided) return;
  uint32_t served = 2;
  region_.head().scan.compare_exchange_strong(served, 0);
  for (unsigned i = 0; i < region_.shape().lists; ++i) {
    flush_list& list = region_.list(i);
    list.decided().store(list.taken().load(std::memory_order_relaxed), std::memory_order_release);
  }
}

bool commit_set::make(std::span<const uint64_t> extra) noexcept {
  seen_ = {};
  if (region_.head().halted.load() != 0) return false;  // VIEW-9
  if (++generation_ == 0) {
    std::memset(static_cast<void*>(table_), 0, (table_mask_ + 1) * sizeof(slot));
    generation_ = 1;
  }
  count_ = fresh_count_ = 0;
  if (watch_ != nullptr) watch_->commit_set_begins();
  // Marks that others left come first; they may fill the commit set (VIEW-4).
  most_ = lines_max_;
  take_marked();
  const bool extra_later = count_ + extra.size() > lines_max_;
  most_ = std::max(lines_max_ - listed_max_, count_ + (extra_later ? 0 : extra.size()));
  for (const uint64_t line : extra_later ? std::span<const uint64_t>() : extra) {
    region_.in_set_set(line);
    region_.pending_clear(line);
    SCUTE_ASSERT(add(line));
  }
  unsigned rounds = 0;
  for (;;) {
    take_listed();
    take_marked();
    if (rounds != 0 && fresh_count_ == 0) break;
    copy_fresh();
    switch_point();
    if (rounds++ != 0) count(counted::rounds);
    if (!gate_closed() && (rounds >= rounds_max || count_ + 3 * listed_max_ > most_)) {
      gate_.store(true);
      count(counted::gates);
    }
  }
  const bool decided = commit();
  finish(decided);
  gate_.store(false, std::memory_order_release);
  return decided && (!extra_later || make(extra));
}

}  // namespace scute::core::view

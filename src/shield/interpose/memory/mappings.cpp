// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/mappings.hpp"

namespace scute::core::interpose {

constinit mapping_table mappings;

namespace {

// The last result of this thread, for find(). A handler may read and change it between any two
// steps of the code that it interrupts: busy keeps it from changing a half-written one, and version
// reveals a change.
struct last_found {
  mapped_range range;
  uint64_t sequence;  // of the table, when it was found; an odd one: nothing
  uint64_t version;
  bool busy;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit last_found last{};

}  // namespace

mapped_range mapping_table::load(size_t i) const noexcept {
  const entry& e = entries_[i];
  mapped_range range;
  range.begin = e.begin.load(std::memory_order_relaxed);
  range.end = e.end.load(std::memory_order_relaxed);
  range.file = e.file.load(std::memory_order_relaxed);
  range.offset = e.offset.load(std::memory_order_relaxed);
  range.stores = e.stores.load(std::memory_order_relaxed);
  return range;
}

void mapping_table::store(size_t i, const mapped_range& range) noexcept {
  entry& e = entries_[i];
  e.begin.store(range.begin, std::memory_order_relaxed);
  e.end.store(range.end, std::memory_order_relaxed);
  e.file.store(range.file, std::memory_order_relaxed);
  e.offset.store(range.offset, std::memory_order_relaxed);
  e.stores.store(range.stores, std::memory_order_relaxed);
}

mapped_range mapping_table::find(uintptr_t at) const noexcept {
  const auto in_order = [] { std::atomic_signal_fence(std::memory_order_seq_cst); };
  const uint64_t now = sequence_.load(std::memory_order_acquire);
  if (last.sequence == now) {
    const uint64_t version = last.version;
    in_order();
    const mapped_range range = last.range;
    in_order();
    if (range.holds(at) && last.version == version && last.sequence == now) return range;
  }
  const mapped_range found = first_in(at, at + 1);
  if (last.busy) return found;
  last.busy = true;
  in_order();
  last.sequence = 1;
  in_order();
  last.range = found;
  ++last.version;
  in_order();
  if (found.file != nullptr && (now & 1) == 0 && sequence_.load(std::memory_order_acquire) == now)
    last.sequence = now;
  in_order();
  last.busy = false;
  return found;
}

mapped_range mapping_table::first_in(uintptr_t begin, uintptr_t end) const noexcept {
  for (;;) {
    const uint64_t before = sequence_.load(std::memory_order_acquire);
    if ((before & 1) != 0)
      continue;  // another thread's change, which no signal can hold up (MAPS-1)
    size_t low = 0, high = count_.load(std::memory_order_relaxed);
    while (low < high) {  // the first whose end lies after begin
      const size_t middle = (low + high) / 2;
      if (entries_[middle].end.load(std::memory_order_relaxed) > begin)
        high = middle;
      else
        low = middle + 1;
    }
    mapped_range found;
    if (low < count_.load(std::memory_order_relaxed)) found = load(low);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (sequence_.load(std::memory_order_relaxed) != before) continue;  // MAPS-2
    return found.begin < end ? found : mapped_range{};
  }
}

void mapping_table::begin_change() noexcept {
  sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

void mapping_table::end_change() noexcept {
  sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void mapping_table::add(const mapped_range& range) noexcept {
  begin_change();
  size_t i = count_.load(std::memory_order_relaxed);
  for (; i > 0 && load(i - 1).begin > range.begin; --i) store(i, load(i - 1));
  store(i, range);
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  end_change();
}

int mapping_table::take(const mapped_range& whole, const mapped_range& piece) noexcept {
  begin_change();
  size_t i = 0;
  while (load(i).begin != whole.begin) ++i;
  const size_t count = count_.load(std::memory_order_relaxed);
  mapped_range head = whole, tail = whole;
  head.end = piece.begin;
  tail.begin = piece.end;
  tail.offset = whole.offset_of(piece.end);
  const bool has_head = head.begin < head.end, has_tail = tail.begin < tail.end;
  if (has_head && has_tail) {
    for (size_t k = count; k > i + 1; --k) store(k, load(k - 1));
    store(i, head);
    store(i + 1, tail);
    count_.store(count + 1, std::memory_order_relaxed);
  } else if (has_head || has_tail) {
    store(i, has_head ? head : tail);
  } else {
    for (size_t k = i; k + 1 < count; ++k) store(k, load(k + 1));
    count_.store(count - 1, std::memory_order_relaxed);
  }
  end_change();
  return has_head + has_tail - 1;
}

uintptr_t mapping_table::lowest() const noexcept {
  return empty() ? 0 : load(0).begin;
}
uintptr_t mapping_table::highest() const noexcept {
  return empty() ? 0 : load(count_.load(std::memory_order_relaxed) - 1).end;
}

}  // namespace scute::core::interpose

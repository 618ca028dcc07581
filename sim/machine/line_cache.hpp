// SPDX-License-Identifier: BSD-3-Clause
// The tags of a set-associative cache that replaces what was used least recently: of lines, and of
// pages (a TLB).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace scute::sim {

// Entry is a trivial struct with a member `key`, which only this class changes.
template <class Entry>
class line_cache {
 public:
  static constexpr uint64_t no_key = UINT64_MAX;

  line_cache(size_t sets, unsigned ways)
      : sets_(sets),
        mask_(std::has_single_bit(sets) ? sets - 1 : 0),
        ways_(ways),
        keys_(sets * ways, no_key),
        used_(sets * ways),
        entries_(sets * ways) {
    for (Entry& e : entries_) e.key = no_key;
  }

  // The entry, now the one used last, or null.
  Entry* use(uint64_t key) noexcept {
    const size_t i = position(key);
    if (i == none) return nullptr;
    used_[i] = ++clock_;
    return &entries_[i];
  }
  // Without touching the order.
  Entry* find(uint64_t key) noexcept {
    const size_t i = position(key);
    return i == none ? nullptr : &entries_[i];
  }
  // The entry that would have to leave for a key that is not present; its key may be no_key.
  Entry& victim(uint64_t key) noexcept { return entries_[leaving(key)]; }
  // In place of the victim: a fresh entry, the one used last.
  Entry& insert(uint64_t key) noexcept {
    const size_t i = leaving(key);
    entries_[i] = Entry{};
    entries_[i].key = keys_[i] = key;
    used_[i] = ++clock_;
    return entries_[i];
  }
  void remove(Entry& e) noexcept {
    e.key = no_key;
    keys_[static_cast<size_t>(&e - entries_.data())] = no_key;
  }
  void remove(uint64_t key) noexcept {
    if (Entry* const e = find(key)) remove(*e);
  }
  template <class F>
  void for_each(F&& f) {
    for (Entry& e : entries_)
      if (e.key != no_key) f(e);
  }

 private:
  static constexpr size_t none = SIZE_MAX, hints = 256;

  size_t first_of(uint64_t key) const noexcept {
    return (mask_ != 0 || sets_ == 1 ? key & mask_ : key % sets_) * ways_;
  }
  size_t position(uint64_t key) noexcept {
    uint32_t& hint = hints_[key % hints];
    if (keys_[hint] == key) return hint;
    const size_t first = first_of(key);
    for (size_t i = first; i < first + ways_; ++i)
      if (keys_[i] == key) {
        hint = static_cast<uint32_t>(i);
        return i;
      }
    return none;
  }
  size_t leaving(uint64_t key) const noexcept {
    const size_t first = first_of(key);
    size_t best = first;
    for (size_t i = first; i < first + ways_; ++i) {
      if (keys_[i] == no_key) return i;
      if (used_[i] < used_[best]) best = i;
    }
    return best;
  }

  size_t sets_, mask_;
  unsigned ways_;
  std::vector<uint64_t> keys_, used_;
  std::vector<Entry> entries_;
  std::array<uint32_t, hints> hints_{};  // where a key like that was last; not more than a guess
  uint64_t clock_ = 0;
};

}  // namespace scute::sim

// SPDX-License-Identifier: BSD-3-Clause
// The shared part of a view: what a supervisor needs to continue when the program has died. It
// holds no addresses. All of it is zeros at first, and sparse: parts that no line needs take no
// memory.
//
//   head | flush lists | pending bits, one per line | in-set bits | page states, one byte each |
//   digests, 8 bytes per line
//
// REGION-1 The head's mark is written last: a region that has it is complete.
// REGION-2 A process may be killed at any store, so each word changes by one store. Words that
//    belong together are stored in an order of which crash_writeback() can handle every prefix
//    (VIEW-1, VIEW-3, VIEW-8).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shield/view/flush_list.hpp"
#include "shield/view/line.hpp"

namespace scute::core::view {

struct region_shape {
  uint64_t capacity = 0;  // the most bytes of the file
  uint32_t lists = 0;     // more threads than that share them
  uint32_t entries = 0;   // of each list, a power of two
  bool operator==(const region_shape&) const = default;
};

// The fewest lines that a backing must take in one commit, and the most that the view uses.
inline constexpr size_t lines_least = 256, lines_most = 65536;
inline constexpr uint64_t capacity_max = uint64_t{1} << 40;

// zeros: loaded too, with digests of 0, and the view never stored any of its bytes. So it is a hole
// of the view unless the program stores to it, and may be a hole in all files. coming: VIEW-11.
enum class page_state : uint8_t { absent = 0, loaded = 1, zeros = 2, coming = 3 };

// The counters of audit_counters, in its order, kept per list so that threads do not contend.
inline constexpr size_t counter_count = 17;

struct region_head {
  static constexpr uint64_t mark_value = 0x3177656976637330;  // "0scview1"
  static constexpr uint32_t version_now = 5;
  std::atomic<uint64_t> mark;
  uint32_t version;
  uint32_t lists;
  uint32_t entries;
  uint32_t zero;
  uint64_t capacity;
  std::atomic<uint64_t> size;  // of the file
  // Nonzero if the pending bits must be scanned: entries were left out, or a commit set has failed.
  std::atomic<uint32_t> scan;
  std::atomic<uint32_t> halted;  // VIEW-9
  uint64_t seed;                 // of the digests, random
  uint64_t zeros;
};
static_assert(sizeof(region_head) == 64);

class region {
 public:
  static uint64_t size(const region_shape& s);
  // Formats zeroed memory, aligned to 4096.
  static void format(std::span<std::byte> at, const region_shape& s, uint64_t file_size);
  // Throws failure (SCUTE_E_CORRUPT, SCUTE_E_VERSION) if there is no region that this build can
  // use.
  explicit region(std::span<std::byte> at);

  region_head& head() const noexcept { return *head_; }
  const region_shape& shape() const noexcept { return shape_; }
  uint64_t file_size() const noexcept { return head_->size.load(std::memory_order_acquire); }
  flush_list& list(unsigned i) const noexcept;
  std::atomic<uint64_t>* counters(unsigned list) const noexcept;

  // Bits by line; return true if the bit was set before.
  bool pending_set(uint64_t line) const noexcept { return set(pending_, line); }
  bool pending_clear(uint64_t line) const noexcept { return clear(pending_, line); }
  // Only the thread with the commit lock writes the in-set bits, so no locked instruction is
  // needed. The store is a release, so that REGION-2 holds.
  void in_set_set(uint64_t line) const noexcept {
    auto& word = in_set_[line / 64];
    word.store(word.load(std::memory_order_relaxed) | bit_of(line), std::memory_order_release);
  }
  void in_set_clear(uint64_t line) const noexcept {
    auto& word = in_set_[line / 64];
    word.store(word.load(std::memory_order_relaxed) & ~bit_of(line), std::memory_order_release);
  }
  // Words of 64 lines each.
  uint64_t pending_word(uint64_t i) const noexcept { return pending_[i].load(); }
  uint64_t in_set_word(uint64_t i) const noexcept { return in_set_[i].load(); }

  uint64_t digest_of(const line& l) const noexcept { return key_.of(l); }
  uint64_t digest_of(const uint64_t (&words)[8]) const noexcept { return key_.of(words); }
  std::atomic<uint64_t>& digest(uint64_t line) const noexcept { return digests_[line]; }
  std::atomic<page_state>& page(uint64_t page) const noexcept { return pages_[page]; }

 private:
  static constexpr uint64_t bit_of(uint64_t i) noexcept { return uint64_t{1} << i % 64; }
  static bool set(std::atomic<uint64_t>* bits, uint64_t i) noexcept {
    return (bits[i / 64].fetch_or(bit_of(i)) & bit_of(i)) != 0;
  }
  static bool clear(std::atomic<uint64_t>* bits, uint64_t i) noexcept {
    return (bits[i / 64].fetch_and(~bit_of(i)) & bit_of(i)) != 0;
  }

  region_shape shape_;
  digest_key key_{0};
  region_head* head_ = nullptr;
  std::byte* lists_ = nullptr;
  uint64_t list_stride_ = 0;
  std::atomic<uint64_t>*pending_ = nullptr, *in_set_ = nullptr, *digests_ = nullptr;
  std::atomic<page_state>* pages_ = nullptr;
};

}  // namespace scute::core::view

// SPDX-License-Identifier: BSD-3-Clause
// A store's entry in memory for each id: 24 bytes, in arrays that never move. An id is a table and
// an index; indexes are dense. The object's bytes are the program's (or the typed interfaces'), and
// not kept here.
//
// Writers: the owning section, the cleaner and recovery change version, size, segment and number of
// records, under the entry's lock. Only the owning section changes owner and marks. A section
// becomes owner by a compare-and-swap, so sections are safe even if the program does not hold its
// locks.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/locks/waiting.hpp"
#include "pow/file/format.hpp"

namespace scute::core::pow {

inline constexpr uint32_t nowhere = 0xffffffffU;  // no segment

struct entry {
  std::atomic<uint64_t> version{0};  // of the newest record; 0: there was never one
  uint32_t segment;                  // where that is, if there is one
  uint32_t size = 0;                 // of its bytes, with tombstone_flag
  std::atomic<uint32_t> records{0};  // of this id on the medium (POW-6)
  std::atomic<uint32_t> state{0};    // marks, owner and tag; see below

  // Entries start as zeros, and segment 0 is a regular one.
  bool is_written() const noexcept { return version.load(std::memory_order_relaxed) != 0; }
  bool is_tombstone() const noexcept { return (size & tombstone_flag) != 0; }
  uint64_t bytes() const noexcept { return size & ~tombstone_flag; }
};
static_assert(sizeof(entry) == 24);

// The bits of entry::state: marks in the low bits, then the lane of the section that has it open
// (0: none), then the tag.
enum entry_mark : uint32_t {
  entry_locked = 1U << 0,
  entry_live = 1U << 1,      // the program sees an object
  entry_queued = 1U << 2,    // will be written by the owner
  entry_erased = 1U << 3,    // by the owner
  entry_fresh = 1U << 4,     // made by the owner
  entry_streamed = 1U << 5,  // the owner has written it in a part
  entry_section = entry_queued | entry_erased | entry_fresh | entry_streamed
};
inline constexpr uint32_t owner_shift = 8, owner_mask = 0xffU << owner_shift, tag_shift = 16;
constexpr uint32_t owner_of(uint32_t state) noexcept {
  return (state & owner_mask) >> owner_shift;
}
constexpr uint32_t tag_of(uint32_t state) noexcept {
  return state >> tag_shift;
}
constexpr uint64_t make_id(uint64_t index, uint32_t tag) noexcept {
  return uint64_t{tag} << 48 | index;
}
constexpr uint32_t tag_of_id(uint64_t id) noexcept {
  return static_cast<uint32_t>(id >> 48);
}

// The lock of one entry, for a few instructions.
class entry_guard {
 public:
  explicit entry_guard(entry& e) noexcept : e_(e) {
    for (unsigned spins = 0;
         (e_.state.fetch_or(entry_locked, std::memory_order_acquire) & entry_locked) != 0;)
      spin_pause(spins);
  }
  ~entry_guard() {
    if (held_) e_.state.fetch_and(~uint32_t{entry_locked}, std::memory_order_release);
  }
  entry_guard(const entry_guard&) = delete;
  entry_guard& operator=(const entry_guard&) = delete;

  // Unlocks, with this state from then on. For the owner: only the owner, or a thread that has the
  // lock, changes a state.
  void release(uint32_t state) noexcept {
    held_ = false;
    e_.state.store(state & ~uint32_t{entry_locked}, std::memory_order_release);
  }

 private:
  entry& e_;
  bool held_ = true;
};

// An array whose elements never move: chunk c has least << c of them. T needs no construction but
// zeros. Any thread.
template <typename T>
class chunked {
 public:
  static constexpr unsigned chunks_max = 40;
  static constexpr uint64_t least = 64;

  chunked() = default;
  ~chunked() {
    for (auto& c : chunks_) std::free(c.load(std::memory_order_relaxed));
  }
  chunked(const chunked&) = delete;
  chunked& operator=(const chunked&) = delete;

  T* find(uint64_t i) const noexcept {
    const unsigned c = chunk_of(i);
    T* const chunk = c < chunks_max ? chunks_[c].load(std::memory_order_acquire) : nullptr;
    return chunk == nullptr ? nullptr : chunk + (i + least - (least << c));
  }
  // Makes the element if necessary. Throws std::bad_alloc.
  T& at(uint64_t i) {
    const unsigned c = chunk_of(i);
    if (c >= chunks_max) throw std::bad_alloc();
    T* chunk = chunks_[c].load(std::memory_order_acquire);
    if (chunk == nullptr) {
      // Zeros that the system maps when they are touched.
      T* const fresh = static_cast<T*>(std::calloc(least << c, sizeof(T)));
      if (fresh == nullptr) throw std::bad_alloc();
      if (chunks_[c].compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel))
        chunk = fresh;
      else
        std::free(fresh);
    }
    return chunk[i + least - (least << c)];
  }

 private:
  static unsigned chunk_of(uint64_t i) noexcept {
    return static_cast<unsigned>(std::bit_width((i + least) / least)) - 1;
  }
  std::atomic<T*> chunks_[chunks_max]{};
};

}  // namespace scute::core::pow

// SPDX-License-Identifier: BSD-3-Clause
// Locks of column blocks, and the lane that wrote there last.
//
// A stripe is a 64-bit word that guards all column blocks (4 KiB of one column range of one zone)
// that hash to it. A thread that changes a block's data or parity holds its stripe: shared if it
// changes parity with atomic XORs, otherwise exclusively (Pangolin 3.5). No thread holds two
// stripes at once, so there is no order to keep. It is held while at most 4 KiB of data are
// written.
//
// The word also has the *owner*: the lane and log sequence of the last commit that wrote in the
// block. A later commit of another lane finds out by it whose log entry must first be made durably
// invalid (see core/engine/redo/redo.hpp, REDO-5). If one owner cannot express that, the word says
// `many`.
//
// In pools of engine `logfree` a *window* (core/engine/logfree/window.hpp) holds stripes
// exclusively, several at once and for longer. The word's owner is then the lane, which a release
// handler can ask to release them.
//
// A thread that holds a stripe and finds a page of its column lost *parks*: it waits, in the
// handler of the fault, until all other holders have left or parked. Then one of the parked threads
// leads: it has the stripe alone, rebuilds the page, and lets the others continue. No other thread
// gets the stripe while one is parked.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/failure.hpp"
#include "base/locks/waiting.hpp"

namespace scute::core::pool {

// Layout of a stripe word: readers:8, parked:8 (of the readers), exclusive:1, lane+1:10 (0 none,
// 1023 many), sequence:37.
struct stripe_owner {
  static constexpr uint64_t none = 0, many = 1023;
  static constexpr uint64_t sequence_mask = (uint64_t{1} << 37) - 1;

  uint64_t bits = 0;  // (sequence << 10) | owner

  static stripe_owner of(uint32_t lane, uint64_t sequence) noexcept {
    return {(sequence & sequence_mask) << 10 | (lane + 1)};
  }
  uint64_t who() const noexcept { return bits & 1023; }
  uint32_t lane() const noexcept { return static_cast<uint32_t>(who() - 1); }
  uint64_t sequence() const noexcept { return bits >> 10; }
  // The whole sequence, of which the word has the low bits only, given one of that lane from about
  // the same time.
  uint64_t sequence_near(uint64_t known) const noexcept {
    constexpr uint64_t half = (sequence_mask + 1) / 2;
    return known + ((sequence() - known + half) & sequence_mask) - half;
  }
  bool operator==(const stripe_owner&) const = default;
};

class stripes {
 public:
  static constexpr uint32_t count = 1u << 14;
  // Small pools of tests would never have two blocks on one stripe: for them fewer stripes are in
  // use, a power of two. To be set while no pool is open; also by SCUTE_STRIPES in the environment.
  static void use(uint32_t n) noexcept { mask_ = std::min(std::bit_floor(n | 1), count) - 1; }
  static uint32_t in_use() noexcept { return mask_ + 1; }

  stripes() : words_(new std::atomic<uint64_t>[count]()) {}

  // May free a stripe that a lane holds. Called repeatedly; async-signal-safe.
  class release_handler {
   public:
    virtual void make_way(uint32_t lane, uint32_t stripe) noexcept = 0;

   protected:
    ~release_handler() = default;
  };
  // For pools whose lanes release their stripes by themselves.
  class no_release_handler final : public release_handler {
   public:
    void make_way(uint32_t, uint32_t) noexcept override {}
  };
  static inline no_release_handler nobody;
  release_handler* windows = &nobody;

  // A column block of a zone, or, in a pool without parity, a 4 KiB page of the file.
  static uint32_t index(uint64_t zone, uint64_t block) noexcept {
    return static_cast<uint32_t>((zone * 0x9e3779b1u + block) & mask_);
  }

  stripe_owner owner(uint32_t i) const noexcept {
    return {words_[i].load(std::memory_order_acquire) >> 17};
  }

  // Each returns true if the stripe was free at the first try.
  bool lock_exclusive(uint32_t i) noexcept {
    auto& word = words_[i];
    uint64_t seen = word.load(std::memory_order_relaxed);
    bool first = true;
    for (unsigned spins = 0;;) {
      if ((seen & (readers | exclusive)) == 0 &&
          word.compare_exchange_weak(seen, seen | exclusive, std::memory_order_acquire,
                                     std::memory_order_relaxed))
        return first;
      first = false;
      wait(i, seen, spins);
      seen = word.load(std::memory_order_relaxed);
    }
  }
  // For windows: leaves the lane as the owner.
  bool lock_window(uint32_t i, uint32_t lane) noexcept {
    if (try_lock_window(i, lane)) return true;
    for (unsigned spins = 0; !try_lock_window(i, lane);)
      wait(i, words_[i].load(std::memory_order_relaxed), spins);
    return false;
  }
  // For a thread that will lock it soon.
  void prefetch(uint32_t i) const noexcept { __builtin_prefetch(&words_[i], 1); }
  // Asks the holder to release the stripe, once.
  void ask(uint32_t i) noexcept {
    const uint64_t who = owner(i).who();
    if (who != stripe_owner::none) windows->make_way(static_cast<uint32_t>(who - 1), i);
  }
  bool try_lock_window(uint32_t i, uint32_t lane) noexcept {
    uint64_t seen = words_[i].load(std::memory_order_relaxed);
    return (seen & (readers | exclusive)) == 0 &&
           words_[i].compare_exchange_strong(seen, held_by(lane), std::memory_order_acquire,
                                             std::memory_order_relaxed);
  }
  // Everything that was streamed under it has been fenced.
  void unlock_window(uint32_t i, uint32_t lane) noexcept {
    SCUTE_ASSERT(words_[i].load(std::memory_order_relaxed) == held_by(lane));
    words_[i].store(held_by(lane) & ~exclusive, std::memory_order_release);
  }
  bool lock_shared(uint32_t i) noexcept {
    auto& word = words_[i];
    uint64_t seen = word.load(std::memory_order_relaxed);
    bool first = true;
    for (unsigned spins = 0;;) {
      if ((seen & (exclusive | parked)) == 0 && (seen & readers) != readers &&
          word.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed))
        return first;
      first = false;
      wait(i, seen, spins);
      seen = word.load(std::memory_order_relaxed);
    }
  }

  // How the holder has stored. Non-temporal stores may be overtaken by an ordinary one on its
  // way to other CPUs, not by a locked one.
  enum class stores : uint8_t { ordinary, streamed };
  // merge(old owner) gives the owner that the word keeps.
  template <typename Merge>
  void unlock_exclusive(uint32_t i, stores made, Merge&& merge) noexcept {
    const uint64_t seen = words_[i].load(std::memory_order_relaxed);
    SCUTE_ASSERT((seen & (exclusive | readers)) == exclusive);
    const uint64_t next = merge(stripe_owner{seen >> 17}).bits << 17;
    if (made == stores::streamed)
      words_[i].exchange(next, std::memory_order_seq_cst);
    else
      words_[i].store(next, std::memory_order_release);
  }
  template <typename Merge>
  void unlock_shared(uint32_t i, Merge&& merge) noexcept {
    uint64_t seen = words_[i].load(std::memory_order_relaxed);
    SCUTE_ASSERT((seen & readers) > (seen & parked) / one_parked);
    while (!words_[i].compare_exchange_weak(
        seen, merge(stripe_owner{seen >> 17}).bits << 17 | ((seen & (readers | parked)) - 1),
        std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  void unlock_exclusive(uint32_t i, stores made = stores::ordinary) noexcept {
    unlock_exclusive(i, made, [](stripe_owner o) { return o; });
  }

  // For holders in shared mode whose page was lost.
  void park(uint32_t i) noexcept { words_[i].fetch_add(one_parked, std::memory_order_acq_rel); }
  // True if all other holders are parked too: the caller now has the stripe to itself, until
  // end_lead().
  bool try_lead(uint32_t i) noexcept {
    uint64_t seen = words_[i].load(std::memory_order_acquire);
    return (seen & exclusive) == 0 && (seen & readers) == (seen & parked) / one_parked &&
           words_[i].compare_exchange_strong(seen, seen | exclusive, std::memory_order_acq_rel);
  }
  void end_lead(uint32_t i) noexcept { words_[i].fetch_and(~exclusive, std::memory_order_acq_rel); }
  // Continues as a normal holder. Returns false while another thread leads.
  bool try_unpark(uint32_t i) noexcept {
    uint64_t seen = words_[i].load(std::memory_order_acquire);
    return (seen & exclusive) == 0 &&
           words_[i].compare_exchange_strong(seen, seen - one_parked, std::memory_order_acq_rel);
  }

 private:
  void wait(uint32_t i, uint64_t seen, unsigned& spins) noexcept {
    const uint64_t who = stripe_owner{seen >> 17}.who();
    if (who != stripe_owner::none) windows->make_way(static_cast<uint32_t>(who - 1), i);
    spin_pause(spins);
  }
  static constexpr uint64_t held_by(uint32_t lane) noexcept {
    return uint64_t{lane + 1} << 17 | exclusive;
  }

  static constexpr uint64_t readers = 0xff, parked = 0xff00, one_parked = 0x100,
                            exclusive = 0x10000;
  static uint32_t mask_;
  std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

// Holds a stripe while an object lives, for a thread that makes ordinary stores under it.
class held_stripe {
 public:
  held_stripe(stripes& locks, uint32_t i) noexcept : locks_(locks), i_(i) {
    locks_.lock_exclusive(i_);
  }
  ~held_stripe() { locks_.unlock_exclusive(i_); }
  held_stripe(const held_stripe&) = delete;
  held_stripe& operator=(const held_stripe&) = delete;

 private:
  stripes& locks_;
  uint32_t i_;
};

}  // namespace scute::core::pool

// SPDX-License-Identifier: BSD-3-Clause
// The stores of a program that a power failure may leave: the x86 persistency model, as far as the
// manuals promise anything (Intel SDM vol. 1, 10.4.6 and 11; vol. 2, CLWB, MOVNTDQ, SFENCE; vol. 3,
// 11.3 and 11.11). The durable part of memory is what has left the caches (ADR), or the caches too
// (eADR).
//
// MODEL-1 A cached store may become durable at any time after it was made, without a flush: its
//    line may be evicted. Stores to one line become durable in the order in which they were made. A
//    store of several words is several stores, in an unknown order.
// MODEL-2 A non-temporal store may become durable at any time after it was made, in any order, in
//    units of 8 aligned bytes.
// MODEL-3 A fence makes durable what the same thread has flushed or streamed before it through the
//    same writer. A flush covers the stores of all threads to its lines up to that moment. A fence
//    of another thread, or through another writer, does nothing for it.
// MODEL-4 Durable bytes stay until durable ones overwrite them. Of two stores to a byte, the older
//    one cannot become durable after the younger one has.
// MODEL-5 eADR: a cached store is durable as soon as it is visible, so in program order. A failure
//    may cut one of several words short, until the next event. A non-temporal store still needs
//    MODEL-3.
// MODEL-6 Stores that were not announced but found by comparing images have an unknown order among
//    themselves; each of their words may be durable or not (MODEL-1 without its second sentence).
//
// About MODEL-3: a fence acts on one processor, and a lane that changes hands does not take it
// along; a page-cache medium keeps its list of dirty pages by writer. If another thread fences
// through the same writer, that empties the list. So this thread's flushes and streams through the
// writer are forgotten, and no later fence completes them.
//
// About MODEL-6: stores that were overwritten before a comparison could see them, and parts of a
// word stored one by one, are unknown. Images with these, which a machine could leave, are the ones
// that are missing.
//
// Where the manuals leave it open, the model allows more, never less: a protocol that holds here
// holds on any machine that keeps these promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scute::model {

class persistence_model {
 public:
  using image = std::vector<std::byte>;

  explicit persistence_model(bool eadr = false) : eadr_(eadr) {}

  // Starts again with everything in `from` durable.
  void reset(std::span<const std::byte> from);

  // The source of a store: a thread, and its writer. Small numbers.
  struct source {
    // NOLINTNEXTLINE(google-explicit-constructor)
    source(unsigned writer_number, unsigned thread_number = 0)
        : writer(static_cast<uint16_t>(writer_number)),
          thread(static_cast<uint16_t>(thread_number)) {}
    bool operator==(const source&) const = default;
    uint16_t writer, thread;
  };

  // Announced stores. Offsets and lengths as the program has them.
  void stream(uint64_t offset, const std::byte* bytes, size_t n, source by);
  void store(uint64_t offset, const std::byte* bytes, size_t n);
  // Stores that a comparison has found: whole words as they are now (MODEL-6).
  void found(uint64_t offset, const std::byte* bytes, size_t n);
  void flush(uint64_t offset, size_t n, source by);
  void fence(source by);

  // A fence has dropped lines that another thread had flushed or streamed through the same writer
  // (MODEL-3). A program whose writers belong to one thread from the first store to the fence never
  // does that, unless it begins the other one's write-backs again.
  bool left_behind() const noexcept { return left_behind_; }

  // All threads that have written so far are dead, and the machine continues. Pending stores are in
  // the caches (a CPU empties its buffers of non-temporal stores when it switches to other work).
  // Only what other threads flush becomes durable for certain.
  void lose_processes();

  // The bytes that are durable in any case.
  std::span<const std::byte> durable() const noexcept { return durable_; }

  // ---- what a failure now could leave -----------------------------------------------------------

  // The smallest unit that is durable or not as a whole.
  struct atom {
    uint64_t offset;
    uint32_t length;
    uint32_t store;  // the store it is part of, counted from 0 in the order they were made
    uint32_t line;   // stores to the same one, other than 0, become durable in order (MODEL-1)
    const std::byte* bytes;
  };
  // In the order of the stores, without those that would change nothing. Valid until the next call
  // of a member that is not const.
  const std::vector<atom>& atoms();
  // The same list, made before.
  const std::vector<atom>& current_atoms() const noexcept { return atoms_; }

  // One bit per atom. close_down() removes atoms that MODEL-1 forbids without their predecessors;
  // close_up() adds the predecessors.
  using choice = std::vector<bool>;
  void close_down(choice& c) const;
  void close_up(choice& c) const;
  // Writes the chosen atoms over `to`, which holds the durable image.
  void apply(const choice& c, std::span<std::byte> to) const;
  // Calls fn(offset, length) for each chosen atom.
  template <typename Fn>
  void for_each_chosen(const choice& c, Fn&& fn) const {
    for (size_t i = 0; i < atoms_.size(); ++i)
      if (c[i]) fn(atoms_[i].offset, atoms_[i].length);
  }

 private:
  enum class kind : uint8_t { streamed, cached, found };
  struct pending {
    uint64_t offset;
    uint32_t length;
    uint32_t bytes;  // index into data_
    kind what;
    source by;         // of streamed
    uint64_t flushed;  // cached, found: bit per flusher whose next fence completes it
  };

  void merge_visible();
  void add(kind what, uint64_t offset, const std::byte* bytes, size_t n, source by);
  void forget_others(source by);
  void make_durable(size_t i);
  uint64_t flusher_bit(source by);

  bool eadr_;
  image durable_;
  std::vector<pending> pending_;
  std::vector<std::byte> data_;
  std::vector<source> flushers_;  // by bit: the sources that have flushed since their last fence
  std::vector<atom> atoms_;
  bool atoms_fresh_ = false;
  bool left_behind_ = false;
};

}  // namespace scute::model

// SPDX-License-Identifier: BSD-3-Clause
// crowd_actor.cpp: one object that all threads write at once,
// without a lock: opened whole, by ranges, in place, mixed, in a transaction or by itself, aborted
// now and then. A member that is refused (errc::conflict) tries again. Each writer has a word of
// its own, in which it counts its transactions, and all of them count theirs in one common word
// besides, so that one may store just what another one is about to. All words are there several
// times over, and must agree, whatever the others do: the common one is the sum of the others.
//
// The crowd's object is either one fragment, with all words twice, or several, with the words in
// some of them.
#include "actor.hpp"

#include <fmt/format.h>

#include <cstring>
#include <thread>
#include <vector>

namespace scute_torture {

namespace {

constexpr uint32_t crowd_type = 0x3000;
constexpr uint64_t word_size = sizeof(uint64_t);
constexpr uint64_t common = threads_max;  // its index
constexpr uint64_t words_size = (threads_max + 1) * word_size;

enum class act { whole, ranges, in_place, mixed, by_itself };

struct rehearsal_over {};

// Where the words are.
struct layout {
  uint64_t copies, stride, size;
  uint64_t key;  // of the bytes between the words
};

layout layout_of(uint64_t seed) {
  dice d(mix(seed, 0x63726f7764));
  const bool parts = d.one_in(2);  // of 4 KiB
  const uint64_t copies = parts ? 2 + d.below(3) : 2,
                 stride = parts ? d.size(4096, 20'000) : words_size;
  const uint64_t begun = (stride + 7) / 8 * 8;
  return {copies, begun, begun * (copies - 1) + words_size + d.below(300), d.word()};
}

class crowd_actor final : public actor {
 public:
  crowd_actor(uint64_t seed, unsigned index, std::shared_ptr<scute_oid> object)
      : actor(mix(seed, 0x63726f), index, "crowd"),
        index_(index),
        where_(layout_of(seed)),
        object_(std::move(object)) {}

  // The first of the crowd makes it.
  scute_oid make_root(scute::tx& tx) const override {
    if (index_ != 0) return *object_;
    const auto made = tx.allocate(where_.size, crowd_type);
    fill(made.bytes, where_.key, 0, where_.size);
    for (uint64_t copy = 0; copy < where_.copies; ++copy)
      std::memset(made.bytes + copy * where_.stride, 0, words_size);
    return *object_ = made.oid;
  }
  uint64_t number_at() const override { return index_ * word_size; }
  // Others may have stored to the object in place, and roll that back later.
  uint64_t number_in(const scute::pool& pool) const override {
    void* at = nullptr;
    int e = SCUTE_E_CONFLICT;
    while (e == SCUTE_E_CONFLICT) e = scute_obj_open(pool.native_handle(), root_, &at);
    scute::detail::check(e);
    const uint64_t number = word_in(static_cast<const std::byte*>(at) + number_at());
    scute_obj_discard(at);
    return number;
  }

  void perform(const scute::pool& pool, uint64_t n, way) override {
    dice d = dice_of(n);
    for (uint64_t refusals = 0;; ++refusals) {
      try {
        const auto how = static_cast<act>(headers_decide(pool) ? d.below(5) : 1 + d.below(3));
        for (uint64_t i = d.one_in(2) ? d.below(4) : 0; i != 0; --i) rehearse(pool, n, d);
        if (how == act::by_itself) return alone(pool, n);
        return pool.transact([&](scute::tx& tx) { write(pool, tx, n, n, how, where_.copies); });
      } catch (const scute::error& e) {
        if (e.which() != scute::errc::conflict) throw;
      }
      if (refusals % 8 == 7) std::this_thread::yield();
    }
  }

  void advance(uint64_t n, way) override { number_ = n; }

  void compare(const scute::pool& pool) const override {
    const void* at = nullptr;
    if (scute_get_verified(pool.native_handle(), root_, &at) != SCUTE_OK)
      throw violation(
          fmt::format("{}: object {:#x} cannot be read: {}", name(), root_, scute_errormsg()));
    if (pool.size_of(scute::ptr<char[]>(root_)) != where_.size)
      throw violation(fmt::format("{}: object {:#x} has {} bytes, not {}", name(), root_,
                                  pool.size_of(scute::ptr<char[]>(root_)), where_.size));
    const auto* bytes = static_cast<const std::byte*>(at);
    for (uint64_t copy = 0; copy < where_.copies; ++copy)
      require(word_in(bytes + place(copy, index_)), number_, copy, "after the kill");
    if (index_ != 0) return;
    if (headers_decide(pool)) compare_common(bytes);
    std::vector<unsigned char> expected(where_.size);
    fill(expected.data(), where_.key, 0, where_.size);
    for (uint64_t copy = 0; copy < where_.copies; ++copy)
      std::memcpy(expected.data() + copy * where_.stride, bytes + copy * where_.stride, words_size);
    const std::string differs = difference(bytes, expected.data(), where_.size);
    if (!differs.empty())
      throw violation(fmt::format("{}: object {:#x}, which no worker writes there: {}", name(),
                                  root_, differs));
  }

  std::string describe(uint64_t n, way) const override {
    return fmt::format("the number {} in each of its {} words of object {:#x}", n, where_.copies,
                       root_);
  }

  void clear(const scute::pool&) override {}

 private:
  uint64_t place(uint64_t copy, uint64_t index) const {
    return copy * where_.stride + index * word_size;
  }
  static uint64_t word_in(const std::byte* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, word_size);
    return word;
  }
  void require(uint64_t found, uint64_t expected, uint64_t copy, const char* when) const {
    if (found != expected)
      throw violation(fmt::format("{}: {} word {} of {} in object {:#x} counts {}, not {}.", name(),
                                  when, copy, where_.copies, root_, found, expected));
  }
  void compare_common(const std::byte* bytes) const {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < threads_max; ++i) sum += word_in(bytes + place(0, i));
    for (uint64_t copy = 0; copy < where_.copies; ++copy)
      if (const uint64_t found = word_in(bytes + place(copy, common)); found != sum)
        throw violation(fmt::format(
            "{}: in object {:#x} common word {} of {} counts {}, and all others together {}.",
            name(), root_, copy, where_.copies, found, sum));
  }
  // Below mlpc headers do not reveal changes: of two members that write a word the later one wins.
  // So only words with one writer are certain, and only if no member opens the object whole.
  static bool headers_decide(const scute::pool& pool) {
    return pool.info().protection == SCUTE_PROTECT_MLPC;
  }

  // No other member writes the own word, so it is what this writer left there.
  void put(std::byte* own, std::byte* all, uint64_t word, uint64_t n, uint64_t copy) const {
    require(word_in(own), n - 1, copy, "when it was opened");
    std::memcpy(own, &word, word_size);
    if (all == nullptr) return;
    const uint64_t more = word_in(all) + 1;
    std::memcpy(all, &more, word_size);
  }
  void put(std::byte* bytes, uint64_t n) const {
    for (uint64_t copy = 0; copy < where_.copies; ++copy)
      put(bytes + place(copy, index_), bytes + place(copy, common), n, n, copy);
  }

  // The first `copies` of them.
  void write(const scute::pool& pool, scute::tx& tx, uint64_t word, uint64_t n, act how,
             uint64_t copies) const {
    if (how == act::whole) return put(tx.open_bytes(root_), n);
    for (uint64_t copy = 0; copy < copies; ++copy) {
      const bool in_place = how == act::in_place || (how == act::mixed && copy % 2 == n % 2);
      const auto open = [&](uint64_t index) {
        return in_place ? tx.in_place_bytes(root_, place(copy, index), word_size)
                        : tx.edit_bytes(root_, place(copy, index), word_size);
      };
      put(open(index_), headers_decide(pool) ? open(common) : nullptr, word, n, copy);
    }
  }

  void alone(const scute::pool& pool, uint64_t n) const {
    void* at = nullptr;
    scute::detail::check(scute_obj_open(pool.native_handle(), root_, &at));
    auto* bytes = static_cast<std::byte*>(at);
    try {
      put(bytes, n);
    } catch (...) {
      scute_obj_discard(at);
      throw;
    }
    scute::detail::check(scute_obj_commit(at));
  }

  // The same, or the beginning of it, with a number that must never be seen, and aborted: at once,
  // or when others have read and committed while the ranges in place had reached the pool.
  void rehearse(const scute::pool& pool, uint64_t n, dice& d) const {
    const act how = d.one_in(4) ? act::ranges : d.one_in(3) ? act::mixed : act::in_place;
    const uint64_t copies = 1 + d.below(where_.copies), spins = d.one_in(2) ? 0 : d.below(4000);
    // Over words of others only where their readers notice.
    const bool brief = d.one_in(2) && headers_decide(pool),
               all_of_it = d.one_in(8) && headers_decide(pool);
    try {
      pool.transact([&](scute::tx& tx) {
        if (brief) {
          ++*reinterpret_cast<uint64_t*>(
              tx.in_place_bytes(root_, place(copies - 1, common), word_size));
        } else if (all_of_it) {
          const uint64_t from = d.below(where_.size), length = 1 + d.below(where_.size - from);
          fill(tx.in_place_bytes(root_, from, length), ~n, 0, length);
        } else {
          write(pool, tx, ~n, n, how, copies);
        }
        for (volatile uint64_t i = 0; i < spins && !brief;) i = i + 1;
        throw rehearsal_over();
      });
    } catch (const rehearsal_over&) {
    }
  }

  unsigned index_;
  layout where_;
  std::shared_ptr<scute_oid> object_;
  uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<actor> make_crowd_actor(uint64_t seed, unsigned index,
                                        std::shared_ptr<scute_oid> object) {
  return std::make_unique<crowd_actor>(seed, index, std::move(object));
}

}  // namespace scute_torture

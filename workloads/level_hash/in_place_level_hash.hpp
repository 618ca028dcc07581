// SPDX-License-Identifier: BSD-3-Clause
// Level hashing in the form that its paper has for persistent memory (entry.hpp names it): in one
// stretch of bytes, changed where it lies, kept whole by the order of its writes. It is a peer,
// with the protection of its day: no checksums, no parity.
//
//   LEVELPM-1  A slot counts if its token does. Key and value are durable before the token is
//       written; the four tokens of a bucket are four bytes that are written at once.
//   LEVELPM-2  An update goes to a free slot of the bucket, and one write of the tokens makes that
//       one count and the old one not. A full bucket's update goes through the record in the
//       header: that is durable first, and the next opening of the table finishes it.
//   LEVELPM-3  An entry that moves is in two places in between, and the copy comes first. The next
//       opening of the table drops one of the two.
//   LEVELPM-4  Where the levels are is in two places in the header, of which one counts: a word
//       says which, and is written last. A level that is being filled is named before the first
//       entry gets there, and the next opening of the table continues to fill it.
//
// Levels, buckets and insertion are those of LEVEL-1 and LEVEL-2 (level_hash.hpp). Bytes are taken
// from the stretch and never given back: a table that has grown from n buckets to m takes those of
// 3 m at most.
//
// A Medium has flush(p, n), which begins to write back the lines of [p, p + n), and fence(), after
// which they are durable. Stores of 8 bytes and less, aligned, are atomic. One thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>

#include "workloads/level_hash/entry.hpp"

namespace scute::workloads::level {

template <class Medium>
class in_place_table {
 public:
  struct bucket {
    key keys[slots];
    value values[slots];
    uint8_t tokens[slots];
  };
  static_assert(sizeof(bucket) == 128 && offsetof(bucket, tokens) % slots == 0);

  /// Bytes for a table that grows up to 2^bits buckets on top.
  static constexpr size_t bytes_for(unsigned bits) noexcept {
    return sizeof(header) + (sizeof(bucket) * 3 << bits);
  }

  /// The bytes stay the caller's, and outlive this; they are aligned to 64. If all of them are
  /// zero, a table of 2^bits and 2^(bits - 1) buckets is made; else the table that is there is
  /// brought into order.
  in_place_table(std::span<std::byte> bytes, Medium& medium, unsigned bits)
      : bytes_(bytes), medium_(medium) {
    if (bits < 2) throw std::invalid_argument("level hashing: two bits at least");
    if (bytes.size() < bytes_for(bits)) throw std::bad_alloc();
    if (at_header().magic != header_magic)
      create(bits);
    else
      recover();
  }
  in_place_table(const in_place_table&) = delete;
  in_place_table& operator=(const in_place_table&) = delete;

  /// True: new; false: the value was replaced. Throws std::bad_alloc if there are no bytes for a
  /// larger level.
  bool insert(const key& k, const value& v) {
    if (update(k, v)) return false;
    while (!put_new(k, v, now().top, now().bottom)) grow();
    ++entries_;
    return true;
  }
  /// True: it was there.
  bool update(const key& k, const value& v) {
    const place p = find(k);
    if (p.at == nullptr) return false;
    bucket& b = *p.at;
    if (const unsigned free = free_slot(b); free != slots) {  // LEVELPM-2
      write(b, free, k, v);
      uint8_t tokens[slots];
      std::memcpy(tokens, b.tokens, slots);
      tokens[free] = 1;
      tokens[p.slot] = 0;
      write_tokens(b, tokens);
      return true;
    }
    header& h = at_header();
    h.logged.place = static_cast<uint64_t>(reinterpret_cast<std::byte*>(&b) - bytes_.data());
    h.logged.slot = p.slot;
    h.logged.v = v;
    persist(&h.logged, sizeof h.logged);
    set(h.logged_counts, 1);
    finish_update();
    return true;
  }
  /// True: it was there.
  bool remove(const key& k) {
    const place p = find(k);
    if (p.at == nullptr) return false;
    mark(*p.at, p.slot, 0);
    --entries_;
    return true;
  }
  /// f(const value&). False: there is none.
  template <class F>
  bool read(const key& k, F&& f) const {
    const place p = find(k);
    if (p.at != nullptr) f(p.at->values[p.slot]);
    return p.at != nullptr;
  }

  uint64_t entries() const noexcept { return entries_; }
  uint64_t capacity() const noexcept {
    return (now().top.buckets + now().bottom.buckets) * uint64_t{slots};
  }
  double load_factor() const noexcept {
    return static_cast<double>(entries_) / static_cast<double>(capacity());
  }
  template <class F>
  void for_each(F&& f) const {
    for (const level& l : {now().fresh, now().top, now().bottom})
      for (uint64_t i = 0; i < l.buckets; ++i)
        for (unsigned s = 0; s < slots; ++s)
          if (in(l, i).tokens[s] != 0) f(in(l, i).keys[s], in(l, i).values[s]);
  }

 private:
  static constexpr uint64_t header_magic = 0x6873616c6576656cu;

  struct level {
    uint64_t at, buckets;  // no buckets: no level
  };
  struct levels {
    level top, bottom, fresh;
    uint64_t end;  // of the bytes that are taken
  };
  struct record {
    uint64_t place, slot;
    value v;
  };
  struct alignas(64) header {
    uint64_t magic, which, logged_counts;
    alignas(64) levels either[2];
    alignas(64) record logged;
  };
  struct place {
    bucket* at;
    unsigned slot;
  };

  header& at_header() const { return *reinterpret_cast<header*>(bytes_.data()); }
  const levels& now() const { return at_header().either[at_header().which & 1]; }
  bucket& in(const level& l, uint64_t i) const {
    return *reinterpret_cast<bucket*>(bytes_.data() + l.at + i * sizeof(bucket));
  }

  void persist(const void* p, size_t n) {
    medium_.flush(p, n);
    medium_.fence();
  }
  void set(uint64_t& word, uint64_t to) {
    std::atomic_ref<uint64_t>(word).store(to, std::memory_order_release);
    persist(&word, sizeof word);
  }
  void write(bucket& b, unsigned slot, const key& k, const value& v) {
    b.keys[slot] = k;
    b.values[slot] = v;
    medium_.flush(&b.keys[slot], sizeof k);
    medium_.flush(&b.values[slot], sizeof v);
    medium_.fence();
  }
  void write_tokens(bucket& b, const uint8_t (&tokens)[slots]) {
    uint32_t word = 0;
    std::memcpy(&word, tokens, sizeof word);
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(b.tokens))
        .store(word, std::memory_order_release);
    persist(b.tokens, slots);
  }
  void mark(bucket& b, unsigned slot, uint8_t token) {
    uint8_t tokens[slots];
    std::memcpy(tokens, b.tokens, slots);
    tokens[slot] = token;
    write_tokens(b, tokens);
  }
  // LEVELPM-4
  void switch_to(const levels& next) {
    header& h = at_header();
    const uint64_t which = 1 - (h.which & 1);
    h.either[which] = next;
    persist(&h.either[which], sizeof next);
    set(h.which, which);
  }
  // Takes a level from the stretch: zeros, and not yet in use.
  level take(uint64_t at, uint64_t buckets) {
    const uint64_t n = buckets * sizeof(bucket);
    if (at + n > bytes_.size()) throw std::bad_alloc();
    std::memset(bytes_.data() + at, 0, n);
    persist(bytes_.data() + at, n);
    return {at, buckets};
  }

  void create(unsigned bits) {
    levels l{};
    l.top = take(sizeof(header), uint64_t{1} << bits);
    l.bottom = take(l.top.at + l.top.buckets * sizeof(bucket), l.top.buckets / 2);
    l.end = l.bottom.at + l.bottom.buckets * sizeof(bucket);
    switch_to(l);
    set(at_header().magic, header_magic);
  }

  place find(const key& k) const {
    const hashes h(k);
    for (const level& l : {now().top, now().bottom})
      for (const uint64_t i : h.in(l.buckets))
        for (unsigned s = 0; s < slots; ++s)
          if (in(l, i).tokens[s] != 0 && in(l, i).keys[s] == k) return {&in(l, i), s};
    return {nullptr, 0};
  }
  static unsigned free_slot(const bucket& b) {
    for (unsigned s = 0; s < slots; ++s)
      if (b.tokens[s] == 0) return s;
    return slots;
  }
  static unsigned used(const bucket& b) {
    unsigned n = 0;
    for (const uint8_t t : b.tokens) n += t != 0;
    return n;
  }

  bool put_new(const key& k, const value& v, const level& upper, const level& lower) {
    const hashes h(k);
    for (const level& l : {upper, lower}) {
      const auto mine = h.in(l.buckets);
      bucket& first = in(l, mine[0]);
      bucket& second = in(l, mine[1]);
      bucket& emptier = used(first) <= used(second) ? first : second;
      if (put_into(emptier, k, v)) return true;
    }
    for (const level& l : {upper, lower})
      for (const uint64_t b : h.in(l.buckets))
        for (unsigned s = 0; s < slots; ++s) {
          const uint64_t to = hashes(in(l, b).keys[s]).other(l.buckets, b);
          if (make_way(in(l, b), s, in(l, to))) return put_into(in(l, b), k, v);
        }
    for (const uint64_t b : h.in(lower.buckets))
      for (unsigned s = 0; s < slots; ++s)
        for (const uint64_t to : hashes(in(lower, b).keys[s]).in(upper.buckets))
          if (make_way(in(lower, b), s, in(upper, to))) return put_into(in(lower, b), k, v);
    return false;
  }
  bool put_into(bucket& b, const key& k, const value& v) {
    const unsigned free = free_slot(b);
    if (free == slots) return false;
    write(b, free, k, v);
    mark(b, free, 1);
    return true;
  }
  // LEVELPM-3
  bool make_way(bucket& from, unsigned slot, bucket& to) {
    if (!put_into(to, from.keys[slot], from.values[slot])) return false;
    mark(from, slot, 0);
    return true;
  }

  void grow() {
    levels next = now();
    next.fresh = take(next.end, 2 * next.top.buckets);
    next.end += next.fresh.buckets * sizeof(bucket);
    switch_to(next);
    fill_fresh();
  }
  void fill_fresh() {
    levels next = now();
    for (uint64_t i = 0; i < next.bottom.buckets; ++i) {
      bucket& b = in(next.bottom, i);
      for (unsigned s = 0; s < slots; ++s) {
        if (b.tokens[s] == 0) continue;
        if (!put_new(b.keys[s], b.values[s], next.fresh, next.top))
          throw std::length_error("level hashing: a new level without room");
        mark(b, s, 0);
      }
    }
    next.bottom = next.top;
    next.top = std::exchange(next.fresh, level{});
    switch_to(next);
  }
  void finish_update() {
    header& h = at_header();
    bucket& b = *reinterpret_cast<bucket*>(bytes_.data() + h.logged.place);
    b.values[h.logged.slot] = h.logged.v;
    persist(&b.values[h.logged.slot], sizeof(value));
    set(h.logged_counts, 0);
  }

  void recover() {
    if (at_header().logged_counts != 0) finish_update();
    drop_copies();
    if (now().fresh.buckets != 0) fill_fresh();
    entries_ = 0;
    for_each([&](const key&, const value&) { ++entries_; });
  }
  // Of an entry that is in two of its places the one that is found last: below, which the other was
  // to leave.
  void drop_copies() {
    const levels& all = now();
    const level each[] = {all.fresh, all.top, all.bottom};
    for (size_t n = 0; n < 3; ++n)
      for (uint64_t i = 0; i < each[n].buckets; ++i) {
        bucket& b = in(each[n], i);
        for (unsigned s = 0; s < slots; ++s)
          if (b.tokens[s] != 0 && is_again(each, n, i, s)) mark(b, s, 0);
      }
  }
  bool is_again(const level (&each)[3], size_t n, uint64_t bucket_of, unsigned slot) const {
    const bucket& mine = in(each[n], bucket_of);
    const hashes h(mine.keys[slot]);
    for (size_t m = 0; m <= n; ++m) {
      if (each[m].buckets == 0) continue;
      for (const uint64_t i : h.in(each[m].buckets))
        for (unsigned s = 0; s < slots; ++s) {
          if (m == n && (i > bucket_of || (i == bucket_of && s >= slot))) continue;
          const bucket& b = in(each[m], i);
          if (b.tokens[s] != 0 && b.keys[s] == mine.keys[slot]) return true;
        }
    }
    return false;
  }

  std::span<std::byte> bytes_;
  Medium& medium_;
  uint64_t entries_ = 0;
};

}  // namespace scute::workloads::level

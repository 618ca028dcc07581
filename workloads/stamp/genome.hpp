// SPDX-License-Identifier: BSD-3-Clause
// STAMP's genome: puts a gene together from its segments.
//
//   1. The segments enter a hash set, 12 per transaction, so that each is there once.
//   2. For every overlap n, from the longest possible one down: each segment that follows no other
//      yet is entered, in a transaction, in a table by the hash of its first n letters; each
//      segment that no other follows looks there, in a transaction, for one that begins as it ends,
//      and is linked with it. Most find their neighbour at once; the tables are as large as those
//      that are left.
//   3. The links are followed from the one segment that follows none. This is one thread's work
//      without transactions.
//
// Locks: none, there is one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/stamp/genome_input.hpp"
#include "workloads/stamp/paged_array.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S>
class genome {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using input = genome_input;

  struct segment {
    uint64_t letters[2];
    ptr<segment> next;      // in the set
    ptr<segment> follower;  // null if there is none
    uint64_t overlap;       // with the follower
    uint64_t follows;       // 1 if it is a follower
  };
  // A segment that follows none, in the table of an overlap.
  struct beginning {
    ptr<beginning> next;
    ptr<segment> of;
  };
  using set = paged_array<S, ptr<segment>>;
  using table = paged_array<S, ptr<beginning>>;
  struct root {
    typename set::root segments;
    typename table::root beginnings;  // of the current overlap
  };

  genome(S& s, const input& sequenced, unsigned)
      : store_(s), sequenced_(sequenced), root_(s.template root<root>()) {}

  void prepare() {
    buckets_ = std::bit_ceil<uint64_t>(sequenced_.how.gene_length);
    const auto made = set::make(store_, buckets_);
    store_.transact([&](tx& t) { t.edit(root_, &root::segments) = made; });
    set_ = set(store_.view(), made);
  }

  uint64_t run(unsigned) {
    uint64_t transactions = 0;
    const auto& all = sequenced_.segments;
    for (size_t i = 0; i < all.size(); i += at_once, ++transactions)
      store_.transact([&](tx& t) {
        for (size_t j = i; j < std::min(i + at_once, all.size()); ++j) enter(t, all[j]);
      });
    std::vector<ptr<segment>> first = unique(),
                              last = first;  // that follow none, that none follows
    for (uint32_t n = sequenced_.how.segment_length - 1; n > 0 && first.size() > 1; --n)
      transactions += link(n, first, last);
    return transactions;
  }

  // The gene, from the links.
  std::string sequence() const {
    const auto& r = store_.view();
    const std::vector<ptr<segment>> all = unique();
    ptr<segment> at{};
    for (const ptr<segment> p : all)
      if (r.get(p).follows == 0) at = p;
    std::string out;
    uint64_t overlap = 0;
    for (size_t i = 0; i < all.size() && at; ++i, at = r.get(at).follower) {
      const segment& s = r.get(at);
      for (auto n = static_cast<uint32_t>(overlap); n < sequenced_.how.segment_length; ++n)
        out += input::letter(letters_of(s), n);
      overlap = s.overlap;
    }
    return out;
  }
  uint64_t segments() const { return unique().size(); }

  std::string check() const {
    const std::string found = sequence();
    if (found.size() != sequenced_.gene.size()) return "genome: the gene has another length";
    return found == sequenced_.gene ? "" : "genome: the gene is wrong";
  }

  void clear() {
    for (const ptr<segment> p : unique()) store_.transact([&](tx& t) { t.destroy(p); });
    set_.clear(store_);
    store_.transact([&](tx& t) { t.open(root_) = root{}; });
  }

 private:
  static constexpr size_t at_once = 12;
  using letters = input::letters;

  static letters letters_of(const segment& s) { return {s.letters[0], s.letters[1]}; }

  void enter(tx& t, const letters& l) {
    const uint64_t bucket = input::hash(l) & (buckets_ - 1);
    const ptr<segment> head = set_.get(t, bucket);
    for (ptr<segment> at = head; at; at = t.get(at).next)
      if (letters_of(t.get(at)) == l) return;
    auto [made, s] = t.template make<segment>();
    s.letters[0] = l[0];
    s.letters[1] = l[1];
    s.next = head;
    set_.edit(t, bucket) = made;
  }

  std::vector<ptr<segment>> unique() const {
    const auto& r = store_.view();
    std::vector<ptr<segment>> all;
    for (uint64_t page = 0; page < set_.pages(); ++page)
      for (const ptr<segment> head : set_.whole(r, page))
        for (ptr<segment> at = head; at; at = r.get(at).next) all.push_back(at);
    return all;
  }

  // Returns how many transactions it took.
  uint64_t link(uint32_t n, std::vector<ptr<segment>>& first, std::vector<ptr<segment>>& last) {
    const uint64_t buckets = std::bit_ceil(first.size());
    uint64_t transactions = 2 + 2 * table::directories_of(buckets) + first.size() + last.size();
    const auto made = table::make(store_, buckets);
    store_.transact([&](tx& t) { t.edit(root_, &root::beginnings) = made; });
    table beginnings(store_.view(), made);

    for (const ptr<segment> p : first)
      store_.transact([&](tx& t) {
        const letters head = input::first(letters_of(t.get(p)), n);
        ptr<beginning>& bucket = beginnings.edit(t, input::hash(head) & (buckets - 1));
        auto [at, b] = t.template make<beginning>();
        b = {bucket, p};
        bucket = at;
      });
    std::erase_if(last, [&](ptr<segment> p) {
      return store_.transact([&](tx& t) { return follow(t, beginnings, buckets - 1, p, n); });
    });
    std::erase_if(first, [&](ptr<segment> p) { return store_.view().get(p).follows != 0; });

    transactions += drop(beginnings);
    beginnings.clear(store_);
    store_.transact([&](tx& t) { t.edit(root_, &root::beginnings) = {}; });
    return transactions;
  }

  bool follow(tx& t, const table& beginnings, uint64_t mask, ptr<segment> p, uint32_t n) {
    const letters tail = input::from(letters_of(t.get(p)), sequenced_.how.segment_length - n);
    const uint64_t bucket = input::hash(tail) & mask;
    ptr<beginning> before{};
    for (ptr<beginning> at = beginnings.get(t, bucket); at; before = at, at = t.get(at).next) {
      const beginning b = t.get(at);
      if (b.of == p || input::first(letters_of(t.get(b.of)), n) != tail) continue;
      t.edit(p, &segment::follower) = b.of;
      t.edit(p, &segment::overlap) = n;
      t.edit(b.of, &segment::follows) = 1;
      if (before)
        t.edit(before, &beginning::next) = b.next;
      else
        beginnings.edit(t, bucket) = b.next;
      t.destroy(at);
      return true;
    }
    return false;
  }

  // Drops the segments that found no match, a transaction each.
  uint64_t drop(const table& beginnings) {
    std::vector<ptr<beginning>> left;
    const auto& r = store_.view();
    for (uint64_t page = 0; page < beginnings.pages(); ++page)
      for (const ptr<beginning> head : beginnings.whole(r, page))
        for (ptr<beginning> at = head; at; at = r.get(at).next) left.push_back(at);
    for (const ptr<beginning> at : left) store_.transact([&](tx& t) { t.destroy(at); });
    return left.size();
  }

  S& store_;
  const input& sequenced_;
  ptr<root> root_;
  set set_;
  uint64_t buckets_ = 0;
};

}  // namespace scute::workloads::stamp

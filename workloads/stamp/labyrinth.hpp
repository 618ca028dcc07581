// SPDX-License-Identifier: BSD-3-Clause
// STAMP's labyrinth: connects pairs of cells in a box by paths that do not touch cells of others,
// after Lee (An algorithm for path connections and its applications, IRE 1961). One transaction
// takes the next pair. Another one copies the box, searches the copy for a shortest way through
// free cells, and writes the number of the path into the cells of the box.
//
// A cell has 0 if it is free, `reserved` if it is the end of a pair that has no path yet, else the
// number of its path, from 1 on.
//
// Locks: none, there is one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "workloads/stamp/labyrinth_input.hpp"
#include "workloads/stamp/paged_array.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S>
class labyrinth {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using input = labyrinth_input;
  using cells = paged_array<S, uint64_t>;
  static constexpr uint64_t reserved = std::numeric_limits<uint64_t>::max();

  struct queue {
    uint64_t next;  // pair
  };
  struct root {
    typename cells::root box;
    ptr<queue> work;
  };

  labyrinth(S& s, const input& maze, unsigned)
      : store_(s), maze_(maze), root_(s.template root<root>()) {}

  void prepare() {
    root made{cells::make(store_, maze_.cells()), {}};
    store_.transact([&](tx& t) {
      made.work = t.template make<queue>().at;
      t.open(root_) = made;
    });
    box_ = cells(store_.view(), made.box);
    work_ = made.work;
    for (const auto& p : maze_.pairs)
      store_.transact([&](tx& t) {
        box_.edit(t, p.from) = reserved;
        box_.edit(t, p.to) = reserved;
      });
  }

  uint64_t run(unsigned) {
    for (uint64_t transactions = 1;; transactions += 2) {
      const uint64_t pair = store_.transact([&](tx& t) {
        const uint64_t next = t.get(work_).next;
        if (next < maze_.pairs.size()) t.edit(work_, &queue::next) = next + 1;
        return next;
      });
      if (pair == maze_.pairs.size()) return transactions;
      store_.transact([&](tx& t) { connect(t, pair); });
    }
  }

  uint64_t cell(uint32_t at) const { return box_.get(store_.view(), at); }

  // Every path goes from one end of its pair to the other, without branches.
  std::string check() const {
    const auto& r = store_.view();
    std::vector<uint64_t> length(maze_.pairs.size() + 1), ends(length.size());
    for (uint32_t at = 0; at < maze_.cells(); ++at) {
      const uint64_t path = box_.get(r, at);
      if (path == 0 || path == reserved) continue;
      if (path >= length.size()) return "labyrinth: a cell has a number that no path has";
      unsigned beside = 0;
      maze_.for_each_neighbour(at, [&](uint32_t n) { beside += box_.get(r, n) == path; });
      const auto& p = maze_.pairs[path - 1];
      if (beside != (at == p.from || at == p.to ? 1 : 2)) return "labyrinth: a path is torn";
      ++length[path];
      ends[path] += at == p.from || at == p.to;
    }
    for (uint64_t path = 1; path < length.size(); ++path)
      if (length[path] != 0 && ends[path] != 2) return "labyrinth: a path has other ends";
    return "";
  }

  void clear() {
    box_.clear(store_);
    store_.transact([&](tx& t) {
      t.destroy(t.get(root_).work);
      t.open(root_) = root{};
    });
  }

 private:
  static constexpr uint32_t unseen = std::numeric_limits<uint32_t>::max(), blocked = unseen - 1;

  // The copy of the box says how far a cell is from the beginning.
  void connect(tx& t, uint64_t pair) {
    const auto [from, to] = maze_.pairs[pair];
    distance_.resize(box_.pages() * cells::per_page);
    for (uint64_t page = 0, i = 0; page < box_.pages(); ++page)
      for (const uint64_t path : box_.whole(t, page)) distance_[i++] = path == 0 ? unseen : blocked;
    distance_[from] = 0;
    distance_[to] = unseen;
    front_.assign(1, from);
    for (size_t i = 0; i < front_.size() && distance_[to] == unseen; ++i) {
      const uint32_t at = front_[i];
      maze_.for_each_neighbour(at, [&](uint32_t n) {
        if (distance_[n] != unseen) return;
        distance_[n] = distance_[at] + 1;
        front_.push_back(n);
      });
    }
    if (distance_[to] == unseen) return;
    uint32_t at = to;
    box_.edit(t, at) = pair + 1;
    while (at != from) {
      const uint32_t wanted = distance_[at] - 1;
      uint32_t before = at;
      maze_.for_each_neighbour(at, [&](uint32_t n) {
        if (distance_[n] == wanted) before = n;
      });
      at = before;
      box_.edit(t, at) = pair + 1;
    }
  }

  S& store_;
  const input& maze_;
  ptr<root> root_;
  cells box_;
  ptr<queue> work_{};
  std::vector<uint32_t> distance_, front_;
};

}  // namespace scute::workloads::stamp

// SPDX-License-Identifier: BSD-3-Clause
// Rows that are numbered from 0 on, an object each: a chain of pages names them, from the last page
// to the first. Pages never change, so a user of the table keeps the references in DRAM: a row
// is one step away.
//
//   ROWS-1  A page has 1 to 30 rows, of successive numbers; the head counts the rows of all pages.
//   ROWS-2  A transaction adds or takes away a whole page. So what a crash leaves is a table with
//           fewer rows.
//
// Threads: any number may read. A thread that adds or takes away must be the only one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class T>
class row_table {
  using tx = typename S::tx;
  template <class X>
  using ptr = typename S::template ptr<X>;

 public:
  static constexpr uint64_t per_page = 30;

  struct page {
    ptr<page> before;
    uint64_t used;
    ptr<T> rows[per_page];
  };
  // Where the table begins: a field of the user's root.
  struct head {
    ptr<page> last;
    uint64_t rows;
  };

  row_table() = default;
  // Throws std::runtime_error if the pages are not those of the head.
  template <class R>
  row_table(const R& r, const head& h) {
    rows_.reserve(h.rows);
    for (ptr<page> at = h.last; at && rows_.size() <= h.rows;) {
      const page& p = r.get(at);
      for (uint64_t i = std::min(p.used, per_page); i-- > 0;) rows_.push_back(p.rows[i]);
      at = p.before;
    }
    if (rows_.size() != h.rows) throw std::runtime_error("a table whose pages have other rows");
    std::reverse(rows_.begin(), rows_.end());
  }

  uint64_t size() const noexcept { return rows_.size(); }
  ptr<T> operator[](uint64_t i) const noexcept { return rows_[i]; }

  // Adds up to n rows, those of a page, in this transaction; fill(number, row) is called for each.
  // `h` is the head, to be changed. Returns how many it added. If the transaction aborts, the table
  // is to be read again.
  template <class F>
  uint64_t add(tx& t, head& h, uint64_t n, F&& fill) {
    const uint64_t count = std::min(n, per_page);
    const auto [at, fresh] = t.template make<page>();
    fresh.before = h.last;
    fresh.used = count;
    for (uint64_t i = 0; i < count; ++i) {
      const auto [row_at, row] = t.template make<T>();
      fill(rows_.size(), row);
      fresh.rows[i] = row_at;
      rows_.push_back(row_at);
    }
    h.last = at;
    h.rows += count;
    return count;
  }
  // Frees the rows of the last page, and the page; forget(row) is called for each row before.
  // False: there are none.
  template <class F>
  bool take_away(tx& t, head& h, F&& forget) {
    if (!h.last) return false;
    const page p = t.get(h.last);
    for (uint64_t i = p.used; i-- > 0;) {
      forget(t.get(p.rows[i]));
      t.destroy(p.rows[i]);
      rows_.pop_back();
    }
    t.destroy(h.last);
    h.last = p.before;
    h.rows -= p.used;
    return true;
  }
  bool take_away(tx& t, head& h) {
    return take_away(t, h, [](const T&) {});
  }

 private:
  std::vector<ptr<T>> rows_;
};

}  // namespace scute::workloads

// SPDX-License-Identifier: BSD-3-Clause
// An array whose length is known when it is made: pages of 256 bytes, and a chain of directories
// that names them. The directories never change afterwards, so a user of the array keeps a copy of
// them in DRAM: an element is one step away.
//
// Pages are small because Scute verifies the object around a field that is edited, up to 4 KiB of
// it. Two threads may edit elements of different pages at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S, class T>
class paged_array {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 256);
  using tx = typename S::tx;
  template <class X>
  using ptr = typename S::template ptr<X>;

 public:
  static constexpr uint64_t per_page = 256 / sizeof(T);
  static constexpr uint64_t directory_size = 63;

  struct page {
    T items[per_page];
  };
  struct directory {
    ptr<directory> next;
    ptr<page> pages[directory_size];
  };
  // Where the array begins: a field of the user's root.
  using root = ptr<directory>;

  // All elements are zero. The caller keeps the result in its root.
  static root make(S& s, uint64_t length) {
    root first{};
    uint64_t left = pages_of(length);
    while (left != 0 || !first) {
      // The last directory is made first, and alone may have room left.
      const uint64_t n = left == 0 ? 0 : (left - 1) % directory_size + 1;
      first = s.transact([&](tx& t) {
        auto [at, d] = t.template make<directory>();
        d.next = first;
        for (uint64_t i = 0; i < n; ++i) d.pages[i] = t.template make<page>().at;
        return at;
      });
      left -= n;
    }
    return first;
  }
  // Transactions that make() takes for so many elements, and that clear() takes again.
  static uint64_t directories_of(uint64_t length) noexcept {
    return std::max<uint64_t>((pages_of(length) + directory_size - 1) / directory_size, 1);
  }

  paged_array() = default;
  template <class R>
  paged_array(const R& r, root first) : first_(first) {
    for (root at = first; at; at = r.get(at).next)
      for (const ptr<page> p : r.get(at).pages)
        if (p) pages_.push_back(p);
  }

  uint64_t pages() const noexcept { return pages_.size(); }

  template <class R>
  const T& get(const R& r, uint64_t i) const {
    return r.get(pages_[i / per_page]).items[i % per_page];
  }
  T& edit(tx& t, uint64_t i) const {
    return t.edit(pages_[i / per_page], &page::items, i % per_page);
  }
  // All elements of a page.
  template <class R>
  std::span<const T, per_page> whole(const R& r, uint64_t number) const {
    return r.get(pages_[number]).items;
  }

  // Frees it all, a directory per transaction. The array is empty afterwards.
  void clear(S& s) {
    for (root at = first_; at;)
      at = s.transact([&](tx& t) {
        const directory d = t.get(at);
        for (const ptr<page> p : d.pages)
          if (p) t.destroy(p);
        t.destroy(at);
        return d.next;
      });
    pages_.clear();
    first_ = {};
  }

 private:
  static uint64_t pages_of(uint64_t length) noexcept { return (length + per_page - 1) / per_page; }

  root first_{};
  std::vector<ptr<page>> pages_;
};

}  // namespace scute::workloads::stamp

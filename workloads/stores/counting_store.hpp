// SPDX-License-Identifier: BSD-3-Clause
// Nodes in plain DRAM, and a count of what every transaction does to them, as in Table 3 of the
// Pangolin paper. It says what a map asks of a store, not what a store makes of that.
//
//   new        objects that the transaction made and did not free again
//   modified   objects that were there before, and of their bytes those that an edit() or open()
//              covers, each once, whether their value changed or not
//   freed      objects that were there before
//   updates    of those objects the words of 8 bytes, or smaller fields, that an edit() or open()
//              covers, each time: as many stores as a program needs
//
// An object that is edited and freed in one transaction is both modified and freed: a store with an
// undo log has paid for the edit. One that is made and freed in one transaction is nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/stores/store.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::workloads {

struct transaction_counts {
  uint64_t new_objects = 0, new_bytes = 0;
  uint64_t modified_objects = 0, modified_bytes = 0;
  uint64_t freed_objects = 0, freed_bytes = 0;

  transaction_counts& operator+=(const transaction_counts& c) noexcept {
    new_objects += c.new_objects;
    new_bytes += c.new_bytes;
    modified_objects += c.modified_objects;
    modified_bytes += c.modified_bytes;
    freed_objects += c.freed_objects;
    freed_bytes += c.freed_bytes;
    return *this;
  }
  friend bool operator==(const transaction_counts&, const transaction_counts&) = default;
};

class counting_store {
 public:
  static constexpr bool aborts = false;

  template <class T>
  using ptr = volatile_store::ptr<T>;
  using reader = volatile_store::reader;

  class tx : public reader {
   public:
    template <class T>
    using made = volatile_store::tx::made<T>;

    template <class T, class F, class C>
    F& edit(ptr<T> p, F C::* field) {
      return *edited(p, &plain_.edit(p, field), 1);
    }
    template <class T, class C, class E, size_t N>
    E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
      return *edited(p, &plain_.edit(p, array, index), 1);
    }
    template <class T, class C, class E, size_t N>
    std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
      const std::span<E> elements = plain_.edit(p, array, index, n);
      edited(p, elements.data(), elements.size());
      return elements;
    }
    template <class T>
    T& open(ptr<T> p) {
      return *edited(p, &plain_.open(p), 1);
    }
    template <class T>
    made<T> make() {
      const made<T> m = plain_.make<T>();
      objects_[m.at.address()].size = sizeof(T);
      return m;
    }
    // The address may be that of the next object, so what there is to count is counted now.
    template <class T>
    void destroy(ptr<T> p) {
      if (const auto it = objects_.find(p.address()); it == objects_.end()) {
        count_freed(sizeof(T));
      } else {
        if (it->second.size == 0) {
          count_freed(sizeof(T));
          count_modified(it->second);
        }
        objects_.erase(it);
      }
      plain_.destroy(p);
    }

   private:
    friend class counting_store;

    struct object {
      size_t size = 0;                                                // of one that is new, else 0
      std::vector<std::pair<const std::byte*, const std::byte*>> of;  // edited, if it is not new
    };

    template <class T, class E>
    E* edited(ptr<T> p, E* first, size_t n) {
      object& o = objects_[p.address()];
      if (o.size == 0) {
        const auto* begin = reinterpret_cast<const std::byte*>(first);
        o.of.emplace_back(begin, begin + n * sizeof(E));
        updates_ += n * ((sizeof(E) + 7) / 8);
      }
      return first;
    }
    void count_freed(size_t size) {
      ++counts_.freed_objects;
      counts_.freed_bytes += size;
    }
    void count_modified(object& o) {
      ++counts_.modified_objects;
      std::ranges::sort(o.of);
      const std::byte* counted = nullptr;
      for (const auto& [begin, end] : o.of) {
        const std::byte* from = std::max(begin, counted);
        if (from < end) counts_.modified_bytes += static_cast<uint64_t>(end - from);
        counted = std::max(counted, end);
      }
    }
    const transaction_counts& finish() {
      for (auto& [address, o] : objects_) {
        if (o.size == 0) {
          count_modified(o);
        } else {
          ++counts_.new_objects;
          counts_.new_bytes += o.size;
        }
      }
      objects_.clear();
      return counts_;
    }

    volatile_store::tx plain_;
    std::unordered_map<const void*, object> objects_;
    transaction_counts counts_;
    uint64_t updates_ = 0;
  };

  /// As volatile_store: an exception undoes nothing; its changes are not counted.
  template <class F>
  auto transact(F&& body) {
    tx mine;
    if constexpr (std::is_void_v<decltype(body(mine))>) {
      body(mine);
      finish(mine);
    } else {
      auto result = body(mine);
      finish(mine);
      return result;
    }
  }
  reader view() const { return {}; }
  template <class T>
  ptr<T> root() {
    return plain_.root<T>();
  }

  /// Of the transaction that ended last.
  const transaction_counts& last() const noexcept { return last_; }
  /// Of all since the last reset().
  const transaction_counts& total() const noexcept { return total_; }
  uint64_t transactions() const noexcept { return transactions_; }
  uint64_t updates() const noexcept { return updates_; }
  void reset() noexcept {
    last_ = total_ = {};
    transactions_ = updates_ = 0;
  }

 private:
  void finish(tx& t) {
    last_ = t.finish();
    total_ += last_;
    updates_ += t.updates_;
    ++transactions_;
  }

  volatile_store plain_;
  transaction_counts last_, total_;
  uint64_t transactions_ = 0, updates_ = 0;
};

static_assert(store<counting_store>);

}  // namespace scute::workloads

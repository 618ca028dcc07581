// SPDX-License-Identifier: BSD-3-Clause
// Nodes in a Scute pool, through the public C++ interface. There are two ways to change one: in a
// micro-buffer, or where it lies. Code that is written against a store does not see which.
#pragma once

#include <scute/pool.hpp>
#include <scute/tx.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

// In place an object cannot be freed by the transaction that has edited it, nor edited by ranges
// that overlap in part.
enum class edits : uint8_t { buffered, in_place };

template <edits How>
class basic_scute_store {
 public:
  template <class T>
  using ptr = scute::ptr<T>;
  using reader = scute::reader;

  class tx {
   public:
    explicit tx(scute::tx& t) : tx_(t) {}

    template <class T>
    struct made {
      ptr<T> at;
      T& object;
    };

    template <class T>
    const T& get(ptr<T> p) const {
      return tx_.get(p);
    }
    template <class T, class F, class C>
    F& edit(ptr<T> p, F C::* field) {
      if constexpr (How == edits::in_place)
        return tx_.in_place(p, field);
      else
        return tx_.edit(p, field);
    }
    template <class T, class C, class E, size_t N>
    E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
      if constexpr (How == edits::in_place)
        return edit(p, array, index, 1).front();
      else
        return tx_.edit(p, array, index);
    }
    template <class T, class C, class E, size_t N>
    std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
      if constexpr (How == edits::in_place) {
        const T& now = tx_.get(p);
        const auto* const first = reinterpret_cast<const std::byte*>(&(now.*array)[index]);
        const auto offset = first - reinterpret_cast<const std::byte*>(&now);
        void* const bytes =
            tx_.in_place_bytes(p.oid(), static_cast<uint64_t>(offset), n * sizeof(E));
        return {static_cast<E*>(bytes), static_cast<size_t>(n)};
      } else {
        return tx_.edit(p, array, index, n);
      }
    }
    template <class T>
    T& open(ptr<T> p) {
      if constexpr (How == edits::in_place)
        return tx_.in_place(p);
      else
        return tx_.open(p);
    }
    template <class T>
    made<T> make() {
      static_assert(scute::storable<T>);
      // All zero bytes are what T() is, for every T that a pool may hold and no field initializes.
      const scute::tx::allocation a = tx_.allocate(sizeof(T), scute::type_number<T>);
      return {ptr<T>(a.oid), *static_cast<T*>(static_cast<void*>(a.bytes))};
    }
    template <class T>
    void destroy(ptr<T> p) {
      tx_.destroy(p);
    }

   private:
    scute::tx& tx_;
  };

  explicit basic_scute_store(scute::pool& pool) : pool_(pool) {}

  template <class F>
  auto transact(F&& body) {
    return pool_.transact([&](scute::tx& t) {
      tx mine(t);
      return body(mine);
    });
  }
  reader view() const { return pool_.local(); }
  template <class T>
  ptr<T> root() {
    return pool_.root<T>();
  }
  scute::pool& pool() const { return pool_; }

 private:
  scute::pool& pool_;
};

using scute_store = basic_scute_store<edits::buffered>;
using scute_in_place_store = basic_scute_store<edits::in_place>;

static_assert(store<scute_store> && store<scute_in_place_store>);

}  // namespace scute::workloads

// SPDX-License-Identifier: BSD-3-Clause
// Nodes in a Scute pool, through the public C++ interface.
#pragma once

#include <scute/pool.hpp>
#include <scute/tx.hpp>

#include <cstdint>
#include <span>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

class scute_store {
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
      return tx_.edit(p, field);
    }
    template <class T, class C, class E, size_t N>
    E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
      return tx_.edit(p, array, index);
    }
    template <class T, class C, class E, size_t N>
    std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
      return tx_.edit(p, array, index, n);
    }
    template <class T>
    T& open(ptr<T> p) {
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

  explicit scute_store(scute::pool& pool) : pool_(pool) {}

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

static_assert(store<scute_store>);

}  // namespace scute::workloads

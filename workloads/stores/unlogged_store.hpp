// SPDX-License-Identifier: BSD-3-Clause
// Nodes in an arena, changed where they lie. The end of a transaction writes back what it has
// edited and made, each line once, and fences once. There is no log: a crash leaves what it leaves,
// and an exception undoes nothing. It is for comparison only: what persistence costs without
// consistency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "workloads/stores/arena.hpp"
#include "workloads/stores/lines.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::workloads {

class unlogged_store {
 public:
  template <class T>
  using ptr = volatile_store::ptr<T>;
  using reader = volatile_store::reader;

  class tx : public reader {
   public:
    explicit tx(unlogged_store& store) : store_(store) {}

    template <class T>
    struct made {
      ptr<T> at;
      T& object;
    };
    template <class T, class F, class C>
    F& edit(ptr<T> p, F C::* field) {
      return *lines_.noted(&(p.address()->*field), 1);
    }
    template <class T, class C, class E, size_t N>
    E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
      return *lines_.noted(&(p.address()->*array)[index], 1);
    }
    template <class T, class C, class E, size_t N>
    std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
      return {lines_.noted(&(p.address()->*array)[index], n), static_cast<size_t>(n)};
    }
    template <class T>
    T& open(ptr<T> p) {
      return *lines_.noted(p.address(), 1);
    }
    template <class T>
    made<T> make() {
      T* const at = new (store_.arena_.take(sizeof(T))) T();
      lines_.noted(at, 1);
      return {ptr<T>(at), *at};
    }
    template <class T>
    void destroy(ptr<T> p) {
      static_assert(std::is_trivially_destructible_v<T>);
      freed_.push_back({p.address(), sizeof(T)});
    }

   private:
    friend class unlogged_store;
    struct piece {
      void* at;
      size_t size;
    };

    void commit() {
      if (lines_.flush(store_.how_)) store_.how_.fence();
      for (const piece& p : freed_) store_.arena_.give_back(p.at, p.size);
    }

    unlogged_store& store_;
    edited_lines lines_;
    std::vector<piece> freed_;
  };

  // The memory stays the caller's.
  unlogged_store(arena& memory, persistence how) : arena_(memory), how_(how) {}

  template <class F>
  auto transact(F&& body) {
    tx mine(*this);
    if constexpr (std::is_void_v<decltype(body(mine))>) {
      body(mine);
      mine.commit();
    } else {
      auto result = body(mine);
      mine.commit();
      return result;
    }
  }
  reader view() const { return {}; }
  template <class T>
  ptr<T> root() {
    if (root_ == nullptr) root_ = new (arena_.take(sizeof(T))) T();
    return ptr<T>(static_cast<T*>(root_));
  }

 private:
  arena& arena_;
  persistence how_;
  void* root_ = nullptr;
};

static_assert(store<unlogged_store>);

}  // namespace scute::workloads

// SPDX-License-Identifier: BSD-3-Clause
// Nodes in an arena in persistent memory, changed where they lie, between marks: what makes the
// transactions atomic and durable is the machine's business.
#pragma once

#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "guest/marks.hpp"
#include "workloads/stores/arena.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::sim {

class marked_store {
 public:
  static constexpr bool aborts = false;

  template <class T>
  using ptr = workloads::volatile_store::ptr<T>;
  using reader = workloads::volatile_store::reader;

  class tx : public workloads::volatile_store::tx {
   public:
    explicit tx(marked_store& s) : store_(s) {}

    template <class T>
    made<T> make() {
      T* const at = new (store_.arena_.take(sizeof(T))) T();
      return {ptr<T>(at), *at};
    }
    template <class T>
    void destroy(ptr<T> p) {
      static_assert(std::is_trivially_destructible_v<T>);
      freed_.push_back({p.address(), sizeof(T)});
    }

   private:
    friend class marked_store;
    struct piece {
      void* at;
      size_t size;
    };
    void give_back() {
      for (const piece& p : freed_) store_.arena_.give_back(p.at, p.size);
    }
    marked_store& store_;
    std::vector<piece> freed_;
  };

  // The memory stays the caller's.
  explicit marked_store(workloads::arena& memory) : arena_(memory) {}

  template <class F>
  auto transact(F&& body) {
    tx mine(*this);
    say(mark::begin);
    if constexpr (std::is_void_v<decltype(body(mine))>) {
      body(mine);
      say(mark::end);
      mine.give_back();
    } else {
      auto result = body(mine);
      say(mark::end);
      mine.give_back();
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
  workloads::arena& arena_;
  void* root_ = nullptr;
};

static_assert(workloads::store<marked_store>);

}  // namespace scute::sim

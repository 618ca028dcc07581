// SPDX-License-Identifier: BSD-3-Clause
// Nodes from the C++ heap, gone with the process: what the maps cost by themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

class volatile_store {
 public:
  static constexpr bool aborts = false;

  template <class T>
  class ptr {
   public:
    constexpr ptr() noexcept = default;
    constexpr explicit ptr(T* at) noexcept : at_(at) {}
    constexpr explicit operator bool() const noexcept { return at_ != nullptr; }
    constexpr T* address() const noexcept { return at_; }
    friend constexpr bool operator==(ptr, ptr) noexcept = default;

   private:
    T* at_ = nullptr;
  };

  class reader {
   public:
    template <class T>
    const T& get(ptr<T> p) const {
      return *p.address();
    }
  };

  class tx : public reader {
   public:
    template <class T>
    struct made {
      ptr<T> at;
      T& object;
    };
    template <class T, class F, class C>
    F& edit(ptr<T> p, F C::* field) {
      return p.address()->*field;
    }
    template <class T, class C, class E, size_t N>
    E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
      return (p.address()->*array)[index];
    }
    template <class T, class C, class E, size_t N>
    std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
      return {&(p.address()->*array)[index], static_cast<size_t>(n)};
    }
    template <class T>
    T& open(ptr<T> p) {
      return *p.address();
    }
    template <class T>
    made<T> make() {
      T* const at = new T();
      return {ptr<T>(at), *at};
    }
    template <class T>
    void destroy(ptr<T> p) {
      static_assert(std::is_trivially_destructible_v<T>);
      delete p.address();
    }
  };

  template <class F>
  auto transact(F&& body) {
    tx mine;
    return body(mine);
  }
  reader view() const { return {}; }
  // Nodes that a map still has when its store goes are lost: destroy them first where that matters.
  template <class T>
  ptr<T> root() {
    if (root_ == nullptr) root_ = std::shared_ptr<void>(std::make_shared<T>());
    return ptr<T>(static_cast<T*>(root_.get()));
  }

 private:
  std::shared_ptr<void> root_;
};

static_assert(store<volatile_store>);

}  // namespace scute::workloads

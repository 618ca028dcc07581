// SPDX-License-Identifier: BSD-3-Clause
// Editing one field of an object where that means to edit the object: for stores that write objects
// whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scute::workloads {

// The result of make() in such a store's transactions.
template <class Ptr, class T>
struct made_object {
  Ptr at;
  T& object;
};

// Tx has open(p), which says that the object at p will be changed, and returns it.
template <class Tx>
class field_edits {
 public:
  template <class Ptr, class F, class C>
  F& edit(Ptr p, F C::* field) {
    return self().open(p).*field;
  }
  template <class Ptr, class C, class E, size_t N>
  E& edit(Ptr p, E (C::*array)[N], uint64_t index) {
    return (self().open(p).*array)[index];
  }
  template <class Ptr, class C, class E, size_t N>
  std::span<E> edit(Ptr p, E (C::*array)[N], uint64_t index, uint64_t n) {
    return {&(self().open(p).*array)[index], static_cast<size_t>(n)};
  }

 private:
  friend Tx;
  field_edits() = default;
  Tx& self() noexcept { return static_cast<Tx&>(*this); }
};

}  // namespace scute::workloads

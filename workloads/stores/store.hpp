// SPDX-License-Identifier: BSD-3-Clause
// The interface of the places where a map's nodes live. One template of a map runs on Scute, on
// libpmemobj and in plain DRAM, and the three differ in nothing else.
//
// A store S has
//   S::ptr<T>   a reference to an object: trivially copyable, null when all its bits are zero
//   S::reader   reads:   r.get(p) -> const T&
//   S::tx       a reader in a transaction, which sees that transaction's changes, and changes:
//     t.edit(p, &T::field)           one field, to assign to
//     t.edit(p, &T::array, i)        one element of an array field
//     t.edit(p, &T::array, i, n)     n elements of it from i on, as a span
//     t.open(p)                      the whole object
//     t.make<T>()                    {ptr, T&}: a new object, value-initialized, to be filled in
//     t.destroy(p)                   frees it when the transaction commits
//   s.transact([&](S::tx& t) { ... })   all of it, or, if an exception leaves it, nothing
//   s.view()                            a reader of the committed state
//   s.root<T>()                         the one object that is there from the start, all zero
// Transactions that begin with a lock: stores/section.hpp.
//
// Rules for what is written against it:
//   - What get() returned is not used after an edit() or open() of the same object: Scute edits
//     a copy, the others edit what get() shows.
//   - What edit(), open() and make() returned is valid until the transaction ends.
//   - Only what changes is edited: on libpmemobj every edited byte is saved first, on Scute it is
//     verified, copied and covered by new parity.
//   - Locks are the caller's: one transaction at a time per map, unless the map says otherwise.
//
// The pointers are 8 bytes everywhere. libpmemobj's own idiom is a PMEMoid of 16 bytes and a
// look-up of the pool per access; offsets are smaller and faster, so that the peer is at its best.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace scute::workloads {

namespace detail {
struct probe {
  uint64_t word;
  uint64_t words[4];
};
}  // namespace detail

template <class S>
concept store = requires(S s, typename S::tx& t, const typename S::reader& r,
                         typename S::template ptr<detail::probe> p) {
  requires std::is_trivially_copyable_v<decltype(p)> && sizeof(p) == 8;
  { static_cast<bool>(p) };
  { r.get(p) } -> std::same_as<const detail::probe&>;
  { t.get(p) } -> std::same_as<const detail::probe&>;
  { t.edit(p, &detail::probe::word) } -> std::same_as<uint64_t&>;
  { t.edit(p, &detail::probe::words, 1) } -> std::same_as<uint64_t&>;
  { t.edit(p, &detail::probe::words, 1, 2).data() } -> std::same_as<uint64_t*>;
  { t.open(p) } -> std::same_as<detail::probe&>;
  { t.template make<detail::probe>().object } -> std::same_as<detail::probe&>;
  t.destroy(p);
};

}  // namespace scute::workloads

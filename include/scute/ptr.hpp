// SPDX-License-Identifier: BSD-3-Clause
//
// ptr.hpp: how one persistent object refers to another.
//
// A ptr<T> is the object's oid (8 bytes: its offset and the pool's tag), so it means the same
// wherever the pool is mapped, and may be stored in objects of that pool. It is followed through
// a pool (pool.get(p): the committed state) or a transaction (tx.get(p): its own writes included),
// never by itself. It owns nothing: freeing the object is tx.destroy(p).
//
// ptr<T[]> names an array object. The array's length is not in the pointer but in the object's
// own header, where the pool protects it; reader::get() returns it as a span.
#ifndef SCUTE_PTR_HPP
#define SCUTE_PTR_HPP

#include <scute/scute.h>

#include <compare>
#include <cstddef>
#include <functional>
#include <type_traits>

namespace scute {

/// A reference to an object of type T in a pool. Trivially copyable; all zero bits is null. T may
/// be incomplete, so that nodes can refer to nodes of their own type.
template <class T>
class ptr {
 public:
  using element_type = std::remove_extent_t<T>;

  constexpr ptr() noexcept = default;
  constexpr ptr(std::nullptr_t) noexcept {}

  /// The object of that oid. The caller vouches for its type; pool::get_verified() can test it.
  constexpr explicit ptr(scute_oid oid) noexcept : oid_(oid) {}

  /// For the C interface.
  constexpr scute_oid oid() const noexcept { return oid_; }

  constexpr explicit operator bool() const noexcept { return oid_ != SCUTE_OID_NULL; }

  /// By oid: within a pool, address order.
  friend constexpr bool operator==(ptr, ptr) noexcept = default;
  friend constexpr auto operator<=>(ptr, ptr) noexcept = default;

 private:
  scute_oid oid_ = SCUTE_OID_NULL;
};

static_assert(sizeof(ptr<int>) == 8 && std::is_trivially_copyable_v<ptr<int>>);

}  // namespace scute

template <class T>
struct std::hash<scute::ptr<T>> {
  size_t operator()(scute::ptr<T> p) const noexcept { return std::hash<scute_oid>{}(p.oid()); }
};

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// storable.hpp: which types may live in a pool.
//
// Stored objects outlive the process, are copied byte by byte between the pool and micro-buffers,
// and are mapped elsewhere next time. So a stored type is trivially copyable, needs no more than
// the 32-byte alignment of objects, and holds nothing that only this process understands: raw
// pointers, references, or standard types that contain them. The compiler checks this through the
// fields of plain structs (up to 24 of them, nested ones and arrays included). It cannot see into
// classes with constructors or private members, base classes and unions: there, the rule is the
// programmer's to keep. Use scute::ptr<T> for links and scute/containers for owning types.
#ifndef SCUTE_STORABLE_HPP
#define SCUTE_STORABLE_HPP

#include <scute/fields.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace scute {

/// Opt-out: specialise as true for a type that the checks reject and that is nevertheless safe.
/// Triviality and alignment are still required, because copying depends on them.
template <class T>
inline constexpr bool assume_storable = false;

/// Opt-in to rejection: types that are trivially copyable but tie themselves to this process.
template <class T>
inline constexpr bool process_bound = false;
template <class C, class Traits>
inline constexpr bool process_bound<std::basic_string_view<C, Traits>> = true;
template <class T, size_t N>
inline constexpr bool process_bound<std::span<T, N>> = true;
template <class T>
inline constexpr bool process_bound<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool process_bound<std::initializer_list<T>> = true;
template <>
inline constexpr bool process_bound<std::error_code> = true;
template <>
inline constexpr bool process_bound<std::error_condition> = true;

/// Alignment of every object's first byte, and so the largest that a stored type may ask for.
inline constexpr size_t storable_align_max = 32;

namespace detail {

template <class T>
consteval bool addresses_inside();

template <class... Ts>
consteval bool addresses_in_any(type_list<Ts...>) {
  return (addresses_inside<Ts>() || ...);
}

template <class T>
inline constexpr bool is_std_array = false;
template <class T, size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

/// A pointer, reference or process-bound type is T or can be seen inside it.
template <class T>
consteval bool addresses_inside() {
  using bare = std::remove_cv_t<std::remove_all_extents_t<T>>;
  if constexpr (assume_storable<bare>) {
    return false;
  } else if constexpr (std::is_pointer_v<bare> || std::is_member_pointer_v<bare> ||
                       std::is_null_pointer_v<bare> || std::is_reference_v<bare> ||
                       process_bound<bare>) {
    return true;
  } else if constexpr (is_std_array<bare>) {
    return addresses_inside<typename bare::value_type>();
  } else if constexpr (field_count<bare> != fields_unknown) {
    return addresses_in_any(fields_of<bare>{});
  } else {
    return false;
  }
}

template <class T>
consteval bool unnamed_union_inside();

template <class... Ts>
consteval bool unnamed_union_in_any(type_list<Ts...>) {
  return (unnamed_union_inside<Ts>() || ...);
}

/// T has a union without a name, or a field that has.
template <class T>
consteval bool unnamed_union_inside() {
  using bare = std::remove_cv_t<std::remove_all_extents_t<T>>;
  if constexpr (assume_storable<bare>) {
    return false;
  } else if constexpr (is_std_array<bare>) {
    return unnamed_union_inside<typename bare::value_type>();
  } else if constexpr (has_unnamed_union<bare>) {
    return true;
  } else if constexpr (field_count<bare> != fields_unknown) {
    return unnamed_union_in_any(fields_of<bare>{});
  } else {
    return false;
  }
}

template <class T>
inline constexpr bool is_plain_object =
    std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>;

/// A const or reference member makes assignment impossible both ways.
template <class T>
inline constexpr bool is_assignable = std::is_move_assignable_v<T>;

}  // namespace detail

/// T may be stored in a pool.
template <class T>
concept storable =
    detail::is_plain_object<T> && std::is_trivially_copyable_v<T> && std::is_destructible_v<T> &&
    alignof(T) <= storable_align_max && (assume_storable<T> || detail::is_assignable<T>) &&
    !detail::addresses_inside<T>() && !detail::unnamed_union_inside<T>();

namespace detail {

/// The same, one question at a time, so that the compiler says which rule was broken.
template <class T>
consteval void require_storable() {
  static_assert(is_plain_object<T>,
                "scute: a stored type is an object type without const or volatile (for arrays, use "
                "ptr<T[]> and make_array, or std::array)");
  static_assert(std::is_trivially_copyable_v<T>,
                "scute: a stored type must be trivially copyable: std::string, std::vector, "
                "std::unique_ptr and classes with virtual functions or copy constructors cannot "
                "live in a pool (see scute/containers)");
  static_assert(std::is_destructible_v<T>, "scute: a stored type must have a public destructor");
  if constexpr (is_plain_object<T> && std::is_trivially_copyable_v<T>) {
    static_assert(alignof(T) <= storable_align_max,
                  "scute: a stored type may be aligned to at most 32 bytes");
    static_assert(assume_storable<T> || is_assignable<T>,
                  "scute: a stored type must be assignable: it has a reference, const or "
                  "std::atomic member");
    static_assert(!addresses_inside<T>(),
                  "scute: a stored type must not hold raw pointers, references or views: they mean "
                  "nothing in the next process; use scute::ptr<T> (or specialise "
                  "scute::assume_storable<T>)");
    static_assert(
        !unnamed_union_inside<T>(),
        "scute: a stored type must not have a union without a name: its fields cannot be "
        "looked at; give the union and the member a name (union number {...}; number n;), "
        "or specialise scute::assume_storable<T> if no field owns another object");
  }
}

}  // namespace detail

}  // namespace scute

#endif

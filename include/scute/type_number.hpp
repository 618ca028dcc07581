// SPDX-License-Identifier: BSD-3-Clause
//
// type_number.hpp: the number that is stored with every object to say what it is.
//
// A type gets its number from a name that the program chooses. So compilers, namespaces and
// renamings in the source cannot change the meaning of an existing pool. Either
//
//   SCUTE_TYPE(app::account, "app.account")                // at global scope, after the type
//
// or inside the type
//
//   struct account { static constexpr std::string_view scute_type = "app.account"; ... };
//
// or, for numbers that a C program already uses, `static constexpr uint32_t scute_type = 7;`.
//
// A type without a name has the number 0, "untyped". It can be stored and found through pointers
// like any other. But pool::objects<T>() cannot enumerate it, and pool::get_verified() cannot
// distinguish it. Nothing that a compiler knows about it (its size, its mangled name) identifies it
// reliably from one build to the next.
#ifndef SCUTE_TYPE_NUMBER_HPP
#define SCUTE_TYPE_NUMBER_HPP

#include <scute/scute.h>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace scute {

/// The number of a name: its 32-bit FNV-1a hash, moved off the reserved values 0 (untyped) and
/// SCUTE_TYPE_ANY. Stable for ever: it is stored in pools.
constexpr uint32_t type_hash(std::string_view name) noexcept {
  uint32_t hash = 2166136261U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash == 0 || hash == SCUTE_TYPE_ANY ? 0x5C07E000U : hash;
}

namespace detail {

template <class T>
constexpr uint32_t default_type_number() noexcept {
  if constexpr (requires {
                  { T::scute_type } -> std::convertible_to<std::string_view>;
                }) {
    return type_hash(T::scute_type);
  } else if constexpr (requires {
                         { T::scute_type } -> std::convertible_to<uint32_t>;
                       }) {
    static_assert(static_cast<uint32_t>(T::scute_type) != SCUTE_TYPE_ANY,
                  "scute: scute_type must not be SCUTE_TYPE_ANY");
    return static_cast<uint32_t>(T::scute_type);
  } else {
    return 0;
  }
}

}  // namespace detail

/// The type number of T, or 0 if T has none. Programs specialise it through SCUTE_TYPE.
template <class T>
inline constexpr uint32_t type_number = detail::default_type_number<T>();

/// An array of T is another type than T: its number follows from T's.
template <class T>
inline constexpr uint32_t type_number<T[]> =
    type_number<T> == 0 ? 0
    : (type_number<T> ^ 0xA55A5AA5U) == 0 || (type_number<T> ^ 0xA55A5AA5U) == SCUTE_TYPE_ANY
        ? 0x5C07E001U
        : type_number<T> ^ 0xA55A5AA5U;

/// T has a type number of its own.
template <class T>
concept numbered = type_number<T> != 0;

}  // namespace scute

/// Names a type; at global scope, before the type is first stored. The name is part of the
/// program's data format.
#define SCUTE_TYPE(type, name) \
  template <>                  \
  inline constexpr uint32_t scute::type_number<type> = scute::type_hash(name);

#endif

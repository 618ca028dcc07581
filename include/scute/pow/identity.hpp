// SPDX-License-Identifier: BSD-3-Clause
//
// identity.hpp: the number by which a store distinguishes types. Part of <scute/pow.hpp>.
//
// A type with a name (SCUTE_TYPE, or scute_type in it; scute/type_number.hpp) is identified by that
// name. Any other type whose bytes are stored as they are is identified by its layout. That is its
// size, and offset, size and kind of each field (signed, unsigned, floating point, bool, char). A
// type whose fields the compiler does not show (scute/fields.hpp) needs a name, also as a field or
// an element: a class with a constructor, a base class or a private member, a union, a struct with
// an unnamed union or more than 24 fields. So does a type with a codec of its own.
#ifndef SCUTE_POW_IDENTITY_HPP
#define SCUTE_POW_IDENTITY_HPP

#include <scute/fields.hpp>
#include <scute/pow/codec.hpp>
#include <scute/type_number.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace scute::pow::detail {

/// FNV-1a over numbers. Its results are stored in files.
struct layout_hash {
  uint32_t value = 2166136261U;
  constexpr void add(uint64_t number) noexcept {
    for (unsigned i = 0; i < 8; ++i, number >>= 8)
      value = (value ^ static_cast<uint8_t>(number)) * 16777619U;
  }
};

template <class T>
constexpr char kind_of() {
  if constexpr (std::is_enum_v<T>)
    return kind_of<std::underlying_type_t<T>>();
  else if constexpr (std::is_same_v<T, bool>)
    return 'b';
  else if constexpr (std::is_same_v<T, char>)
    return 'c';  // signed here and unsigned there
  else if constexpr (std::is_floating_point_v<T>)
    return 'f';
  else
    return std::is_signed_v<T> ? 's' : 'u';
}

template <class T>
inline constexpr bool is_array_of = false;
template <class T, size_t N>
inline constexpr bool is_array_of<T[N]> = true;
template <class T, size_t N>
inline constexpr bool is_array_of<std::array<T, N>> = true;
template <class T>
struct array_of;
template <class T, size_t N>
struct array_of<T[N]> {
  using element = T;
  static constexpr size_t count = N;
};
template <class T, size_t N>
struct array_of<std::array<T, N>> : array_of<T[N]> {};

/// Only its name distinguishes it from another type.
template <class T>
consteval void require_name() {
  static_assert(
      type_number<T> != 0,
      "scute: a persist-on-write store cannot see the fields of this type (it has a "
      "constructor, a base class, private members, a union or a codec), so it needs a "
      "name that distinguishes it from others: SCUTE_TYPE(type, \"name\") at global scope, "
      "or a member scute_type");
}

template <class T>
constexpr void add_layout(layout_hash& h, size_t at);

template <class T>
constexpr void add_field(layout_hash& h, size_t at, size_t& offset) {
  offset = (offset + alignof(T) - 1) / alignof(T) * alignof(T);
  add_layout<T>(h, at + offset);
  offset += sizeof(T);
}
template <class... Ts>
constexpr void add_fields(layout_hash& h, size_t at, scute::detail::type_list<Ts...>) {
  [[maybe_unused]] size_t offset = 0;
  (add_field<Ts>(h, at, offset), ...);
}

/// The fields of T from `at` on. Structs in structs count as their fields.
template <class T>
constexpr void add_layout(layout_hash& h, size_t at) {
  using bare = std::remove_cv_t<T>;
  const auto leaf = [&](char kind, uint64_t number) {
    h.add(static_cast<uint64_t>(kind));
    h.add(at);
    h.add(number);
  };
  if constexpr (type_number<bare> != 0) {
    leaf('n', type_number<bare>);
    h.add(sizeof(bare));
  } else if constexpr (std::is_arithmetic_v<bare> || std::is_enum_v<bare>) {
    leaf(kind_of<bare>(), sizeof(bare));
  } else if constexpr (is_array_of<bare>) {
    leaf('a', array_of<bare>::count);
    add_layout<typename array_of<bare>::element>(h, 0);
  } else if constexpr (scute::detail::field_count<bare> != scute::detail::fields_unknown) {
    add_fields(h, at, scute::detail::fields_of<bare>{});
  } else {
    require_name<bare>();
  }
}

template <class T>
constexpr uint32_t layout_number() {
  layout_hash h;
  h.add(sizeof(T));
  add_layout<T>(h, 0);
  return h.value == 0 || h.value == SCUTE_TYPE_ANY ? 0x5C07E002U : h.value;
}

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

/// layouts: false: as libraries numbered types that had no layouts; then all without a name are 0.
template <class T>
constexpr uint32_t number_of(bool layouts) {
  if constexpr (std::is_same_v<T, std::string>)
    return type_hash("string");
  else if constexpr (is_vector<T>)
    return type_hash("vector") ^ number_of<typename T::value_type>(layouts) * 31;
  else if constexpr (type_number<T> != 0)
    return type_number<T>;
  else if constexpr (std::is_arithmetic_v<T>)
    return type_hash(std::is_floating_point_v<T> ? "float"
                     : std::is_signed_v<T>       ? "signed"
                                                 : "unsigned") +
           sizeof(T);
  else if constexpr (is_plain<T>)
    return layouts ? layout_number<T>() : 0;
  else if constexpr (has_codec<T>)
    return require_name<T>(), 0;
  else
    return 0;  // require_writable() refuses it
}

/// Of a table.
struct identity {
  uint32_t type;
  uint32_t earlier;  // that libraries without layouts gave it
};
template <class T>
inline constexpr identity table_of{number_of<T>(true), number_of<T>(false)};
/// Vectors and single objects.
template <class T>
constexpr identity kind_of_table(uint32_t kind) {
  return {number_of<T>(true) ^ kind, number_of<T>(false) ^ kind};
}
template <class T>
constexpr identity queue_of(uint32_t kind) {
  return {number_of<T>(true) ^ kind, number_of<T>(false) ^ kind};
}
template <class K, class V>
constexpr identity map_of(uint32_t kind) {
  return {number_of<K>(true) * 31 ^ number_of<V>(true) ^ kind,
          number_of<K>(false) * 31 ^ number_of<V>(false) ^ kind};
}

}  // namespace scute::pow::detail

#endif

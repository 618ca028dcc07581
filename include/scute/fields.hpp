// SPDX-License-Identifier: BSD-3-Clause
//
// fields.hpp: looking into plain structs, as far as C++20 can. Internal.
//
// Two questions are asked of a user's struct: may it be stored (storable.hpp), and which of its
// fields own other objects (ownership.hpp). Both need the types of the fields. For an aggregate
// without base classes and with at most 24 fields they are found so: T{{}, {}, ...} compiles with
// at most as many braces as there are fields, and a structured binding of that many names then
// yields the fields. Anything else is opaque, and field_count<T> says so. No structured binding
// takes a struct with an anonymous union apart, and trying is an error that nothing can catch: such
// a union is recognised by the name that the compiler prints for it. GCC prints the same for a
// named member whose union has no name, so that one counts as anonymous.
#ifndef SCUTE_FIELDS_HPP
#define SCUTE_FIELDS_HPP

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace scute::detail {

inline constexpr size_t fields_max = 24;
inline constexpr size_t fields_unknown = ~size_t{0};

/// Converts to anything but Self, in unevaluated code.
template <class Self>
struct any_field {
  template <class U>
    requires(!std::is_same_v<U, Self>)
  operator U() const noexcept;  // NOLINT(google-explicit-constructor): that is its purpose
};

/// Converts to the proper base classes of T only.
template <class T>
struct any_base {
  template <class U>
    requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
  operator U() const noexcept;  // NOLINT(google-explicit-constructor)
};

/// U is a union without a name that is defined in T.
template <class T, class U>
consteval bool unnamed_in() noexcept {
  const std::string_view text = __PRETTY_FUNCTION__;  // ...T = x::S; U = x::S::<unnamed union>...
  const size_t t = text.find("T = "), u = text.find("U = ");
  if (t == text.npos || u == text.npos || u < t + 6) {
    return false;
  }
  const std::string_view outer = text.substr(t + 4, u - t - 6);
  std::string_view name = text.substr(u + 4);
  if (!name.starts_with(outer)) {
    return false;
  }
  name.remove_prefix(outer.size());
  return name.starts_with("::<unnamed union>") || name.starts_with("::(anonymous union");
}

/// Converts to the unnamed unions of T only.
template <class T>
struct any_unnamed_union {
  template <class U>
    requires(std::is_union_v<U> && unnamed_in<T, U>())
  operator U() const noexcept;  // NOLINT(google-explicit-constructor)
};

template <class... Ts>
struct type_list {};

template <size_t N>
using field_n = std::integral_constant<size_t, N>;

// clang-format off
// SCUTE_B3 is {}, {}, {}; SCUTE_F3 is f1, f2, f3; SCUTE_D3 is their types; SCUTE_V3 visits them.
#define SCUTE_B1 {}
#define SCUTE_F1 f1
#define SCUTE_D1 decltype(f1)
#define SCUTE_V1 SCUTE_V(f1)
#define SCUTE_B2 SCUTE_B1, {}
#define SCUTE_B3 SCUTE_B2, {}
#define SCUTE_B4 SCUTE_B3, {}
#define SCUTE_B5 SCUTE_B4, {}
#define SCUTE_B6 SCUTE_B5, {}
#define SCUTE_B7 SCUTE_B6, {}
#define SCUTE_B8 SCUTE_B7, {}
#define SCUTE_B9 SCUTE_B8, {}
#define SCUTE_B10 SCUTE_B9, {}
#define SCUTE_B11 SCUTE_B10, {}
#define SCUTE_B12 SCUTE_B11, {}
#define SCUTE_B13 SCUTE_B12, {}
#define SCUTE_B14 SCUTE_B13, {}
#define SCUTE_B15 SCUTE_B14, {}
#define SCUTE_B16 SCUTE_B15, {}
#define SCUTE_B17 SCUTE_B16, {}
#define SCUTE_B18 SCUTE_B17, {}
#define SCUTE_B19 SCUTE_B18, {}
#define SCUTE_B20 SCUTE_B19, {}
#define SCUTE_B21 SCUTE_B20, {}
#define SCUTE_B22 SCUTE_B21, {}
#define SCUTE_B23 SCUTE_B22, {}
#define SCUTE_B24 SCUTE_B23, {}
#define SCUTE_B25 SCUTE_B24, {}
#define SCUTE_F2 SCUTE_F1, f2
#define SCUTE_F3 SCUTE_F2, f3
#define SCUTE_F4 SCUTE_F3, f4
#define SCUTE_F5 SCUTE_F4, f5
#define SCUTE_F6 SCUTE_F5, f6
#define SCUTE_F7 SCUTE_F6, f7
#define SCUTE_F8 SCUTE_F7, f8
#define SCUTE_F9 SCUTE_F8, f9
#define SCUTE_F10 SCUTE_F9, f10
#define SCUTE_F11 SCUTE_F10, f11
#define SCUTE_F12 SCUTE_F11, f12
#define SCUTE_F13 SCUTE_F12, f13
#define SCUTE_F14 SCUTE_F13, f14
#define SCUTE_F15 SCUTE_F14, f15
#define SCUTE_F16 SCUTE_F15, f16
#define SCUTE_F17 SCUTE_F16, f17
#define SCUTE_F18 SCUTE_F17, f18
#define SCUTE_F19 SCUTE_F18, f19
#define SCUTE_F20 SCUTE_F19, f20
#define SCUTE_F21 SCUTE_F20, f21
#define SCUTE_F22 SCUTE_F21, f22
#define SCUTE_F23 SCUTE_F22, f23
#define SCUTE_F24 SCUTE_F23, f24
#define SCUTE_D2 SCUTE_D1, decltype(f2)
#define SCUTE_D3 SCUTE_D2, decltype(f3)
#define SCUTE_D4 SCUTE_D3, decltype(f4)
#define SCUTE_D5 SCUTE_D4, decltype(f5)
#define SCUTE_D6 SCUTE_D5, decltype(f6)
#define SCUTE_D7 SCUTE_D6, decltype(f7)
#define SCUTE_D8 SCUTE_D7, decltype(f8)
#define SCUTE_D9 SCUTE_D8, decltype(f9)
#define SCUTE_D10 SCUTE_D9, decltype(f10)
#define SCUTE_D11 SCUTE_D10, decltype(f11)
#define SCUTE_D12 SCUTE_D11, decltype(f12)
#define SCUTE_D13 SCUTE_D12, decltype(f13)
#define SCUTE_D14 SCUTE_D13, decltype(f14)
#define SCUTE_D15 SCUTE_D14, decltype(f15)
#define SCUTE_D16 SCUTE_D15, decltype(f16)
#define SCUTE_D17 SCUTE_D16, decltype(f17)
#define SCUTE_D18 SCUTE_D17, decltype(f18)
#define SCUTE_D19 SCUTE_D18, decltype(f19)
#define SCUTE_D20 SCUTE_D19, decltype(f20)
#define SCUTE_D21 SCUTE_D20, decltype(f21)
#define SCUTE_D22 SCUTE_D21, decltype(f22)
#define SCUTE_D23 SCUTE_D22, decltype(f23)
#define SCUTE_D24 SCUTE_D23, decltype(f24)
#define SCUTE_V2 SCUTE_V1 SCUTE_V(f2)
#define SCUTE_V3 SCUTE_V2 SCUTE_V(f3)
#define SCUTE_V4 SCUTE_V3 SCUTE_V(f4)
#define SCUTE_V5 SCUTE_V4 SCUTE_V(f5)
#define SCUTE_V6 SCUTE_V5 SCUTE_V(f6)
#define SCUTE_V7 SCUTE_V6 SCUTE_V(f7)
#define SCUTE_V8 SCUTE_V7 SCUTE_V(f8)
#define SCUTE_V9 SCUTE_V8 SCUTE_V(f9)
#define SCUTE_V10 SCUTE_V9 SCUTE_V(f10)
#define SCUTE_V11 SCUTE_V10 SCUTE_V(f11)
#define SCUTE_V12 SCUTE_V11 SCUTE_V(f12)
#define SCUTE_V13 SCUTE_V12 SCUTE_V(f13)
#define SCUTE_V14 SCUTE_V13 SCUTE_V(f14)
#define SCUTE_V15 SCUTE_V14 SCUTE_V(f15)
#define SCUTE_V16 SCUTE_V15 SCUTE_V(f16)
#define SCUTE_V17 SCUTE_V16 SCUTE_V(f17)
#define SCUTE_V18 SCUTE_V17 SCUTE_V(f18)
#define SCUTE_V19 SCUTE_V18 SCUTE_V(f19)
#define SCUTE_V20 SCUTE_V19 SCUTE_V(f20)
#define SCUTE_V21 SCUTE_V20 SCUTE_V(f21)
#define SCUTE_V22 SCUTE_V21 SCUTE_V(f22)
#define SCUTE_V23 SCUTE_V22 SCUTE_V(f23)
#define SCUTE_V24 SCUTE_V23 SCUTE_V(f24)
#define SCUTE_EACH(X) \
  X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) \
  X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
  X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24)
// clang-format on

/// T can be initialised from N empty braces: it has at least N fields.
template <class T, size_t N>
inline constexpr bool braces = false;
/// The same, and from something else after them.
template <class T, size_t N>
inline constexpr bool braces_then_any = false;
/// Field N is an unnamed union.
template <class T, size_t N>
inline constexpr bool unnamed_union_at = requires { T{any_unnamed_union<T>{}}; };

#define SCUTE_X(n)                                                                           \
  template <class T>                                                                         \
  inline constexpr bool braces<T, n> = requires { T{SCUTE_B##n}; };                          \
  template <class T>                                                                         \
  inline constexpr bool braces_then_any<T, n> = requires { T{SCUTE_B##n, any_field<T>{}}; }; \
  template <class T>                                                                         \
  inline constexpr bool unnamed_union_at<T, n> =                                             \
      requires { T{SCUTE_B##n, any_unnamed_union<T>{}}; };
SCUTE_EACH(SCUTE_X)
#undef SCUTE_X
template <class T>
inline constexpr bool braces<T, fields_max + 1> = requires { T{SCUTE_B25}; };

template <class T, size_t N = 0>
consteval size_t count_fields() noexcept {
  if constexpr (N == fields_max) {
    return braces<T, N + 1> ? fields_unknown : N;
  } else if constexpr (braces<T, N + 1>) {
    return count_fields<T, N + 1>();
  } else if constexpr (N == 0) {
    return std::is_empty_v<T> ? 0 : fields_unknown;
  } else {
    // A field follows that {} cannot initialise: the count would be wrong.
    return braces_then_any<T, N> ? fields_unknown : N;
  }
}

template <class T, size_t... N>
consteval bool unnamed_union_among(std::index_sequence<N...>) noexcept {
  return (unnamed_union_at<T, N> || ...);
}

/// A type with its own structured-binding protocol shows its elements, not its fields.
template <class T>
concept tuple_like = requires { std::tuple_size<T>::value; };

/// T is an aggregate with an unnamed union among its fields.
template <class T>
consteval bool has_unnamed_union_of() noexcept {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || tuple_like<T>) {
    return false;
  } else {
    constexpr size_t counted = count_fields<T>();
    constexpr size_t n = counted == fields_unknown ? 0 : counted;
    return unnamed_union_among<T>(std::make_index_sequence<n>{});
  }
}
template <class T>
inline constexpr bool has_unnamed_union = has_unnamed_union_of<T>();

/// T is an aggregate class whose fields a structured binding can name.
template <class T>
consteval size_t field_count_of() noexcept {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || tuple_like<T>) {
    return fields_unknown;
  } else if constexpr (requires { T{any_base<T>{}}; } || has_unnamed_union<T>) {
    return fields_unknown;
  } else {
    return count_fields<T>();
  }
}

/// Number of fields of T, or fields_unknown if T is opaque.
template <class T>
inline constexpr size_t field_count = field_count_of<T>();

template <class T>
type_list<> list_fields(T&, field_n<0>);

#define SCUTE_X(n)                               \
  template <class T>                             \
  auto list_fields(T& value, field_n<n>) {       \
    [[maybe_unused]] auto& [SCUTE_F##n] = value; \
    return type_list<SCUTE_D##n>{};              \
  }
SCUTE_EACH(SCUTE_X)
#undef SCUTE_X

/// type_list of the fields' types; T must not be opaque.
template <class T>
using fields_of = decltype(list_fields(std::declval<T&>(), field_n<field_count<T>>{}));

template <template <class> class Filter, class T, class F>
void visit_fields(T&, F&, field_n<0>) {}

// Fields that Filter excludes are not touched, so that bit-fields may be among them.
#define SCUTE_V(f)                                                 \
  if constexpr (Filter<std::remove_cvref_t<decltype(f)>>::value) { \
    function(f);                                                   \
  }
#define SCUTE_X(n)                                                        \
  template <template <class> class Filter, class T, class F>              \
  void visit_fields(T& value, [[maybe_unused]] F& function, field_n<n>) { \
    [[maybe_unused]] auto& [SCUTE_F##n] = value;                          \
    SCUTE_V##n                                                            \
  }
SCUTE_EACH(SCUTE_X)
#undef SCUTE_X
#undef SCUTE_V

#undef SCUTE_B1
#undef SCUTE_F1
#undef SCUTE_D1
#undef SCUTE_V1
#undef SCUTE_B2
#undef SCUTE_F2
#undef SCUTE_D2
#undef SCUTE_V2
#undef SCUTE_B3
#undef SCUTE_F3
#undef SCUTE_D3
#undef SCUTE_V3
#undef SCUTE_B4
#undef SCUTE_F4
#undef SCUTE_D4
#undef SCUTE_V4
#undef SCUTE_B5
#undef SCUTE_F5
#undef SCUTE_D5
#undef SCUTE_V5
#undef SCUTE_B6
#undef SCUTE_F6
#undef SCUTE_D6
#undef SCUTE_V6
#undef SCUTE_B7
#undef SCUTE_F7
#undef SCUTE_D7
#undef SCUTE_V7
#undef SCUTE_B8
#undef SCUTE_F8
#undef SCUTE_D8
#undef SCUTE_V8
#undef SCUTE_B9
#undef SCUTE_F9
#undef SCUTE_D9
#undef SCUTE_V9
#undef SCUTE_B10
#undef SCUTE_F10
#undef SCUTE_D10
#undef SCUTE_V10
#undef SCUTE_B11
#undef SCUTE_F11
#undef SCUTE_D11
#undef SCUTE_V11
#undef SCUTE_B12
#undef SCUTE_F12
#undef SCUTE_D12
#undef SCUTE_V12
#undef SCUTE_B13
#undef SCUTE_F13
#undef SCUTE_D13
#undef SCUTE_V13
#undef SCUTE_B14
#undef SCUTE_F14
#undef SCUTE_D14
#undef SCUTE_V14
#undef SCUTE_B15
#undef SCUTE_F15
#undef SCUTE_D15
#undef SCUTE_V15
#undef SCUTE_B16
#undef SCUTE_F16
#undef SCUTE_D16
#undef SCUTE_V16
#undef SCUTE_B17
#undef SCUTE_F17
#undef SCUTE_D17
#undef SCUTE_V17
#undef SCUTE_B18
#undef SCUTE_F18
#undef SCUTE_D18
#undef SCUTE_V18
#undef SCUTE_B19
#undef SCUTE_F19
#undef SCUTE_D19
#undef SCUTE_V19
#undef SCUTE_B20
#undef SCUTE_F20
#undef SCUTE_D20
#undef SCUTE_V20
#undef SCUTE_B21
#undef SCUTE_F21
#undef SCUTE_D21
#undef SCUTE_V21
#undef SCUTE_B22
#undef SCUTE_F22
#undef SCUTE_D22
#undef SCUTE_V22
#undef SCUTE_B23
#undef SCUTE_F23
#undef SCUTE_D23
#undef SCUTE_V23
#undef SCUTE_B24
#undef SCUTE_F24
#undef SCUTE_D24
#undef SCUTE_V24
#undef SCUTE_B25
#undef SCUTE_EACH

/// Calls function(field) for every field of value whose type Filter accepts.
template <template <class> class Filter, class T, class F>
void for_each_field(T& value, F function) {
  visit_fields<Filter>(value, function, field_n<field_count<std::remove_const_t<T>>>{});
}

}  // namespace scute::detail

#endif

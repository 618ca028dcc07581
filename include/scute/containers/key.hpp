// SPDX-License-Identifier: BSD-3-Clause
//
// key.hpp: what the containers share: looking keys up, and making values in their slots. Internal.
//
// To search a map whose keys are scute::string, pass anything that converts to std::string_view.
// For other maps pass the key type, or anything that compares with it.
#ifndef SCUTE_CONTAINERS_KEY_HPP
#define SCUTE_CONTAINERS_KEY_HPP

#include <scute/containers/string.hpp>
#include <scute/tx.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace scute::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_corrupt(const char* message) {
  throw error(errc::corrupt, message);
}

/// For iterators past the last element.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_at_end() {
  throw_error(errc::range, "scute: an iterator at the end of a container was followed");
}

/// The form in which a stored value is compared: a string as its text, all else as it is.
template <class T>
decltype(auto) viewed([[maybe_unused]] const reader& r, const T& value) {
  if constexpr (std::same_as<T, string>) {
    return value.view(r);
  } else {
    return (value);
  }
}

/// A key that a caller searches for, in the form in which it is compared with keys of type K: a
/// std::string_view for strings, a K for numbers (so that 1 finds 1U), else as it is.
template <class K, class Q>
decltype(auto) asked([[maybe_unused]] const reader& r, const Q& query) {
  if constexpr (std::same_as<Q, string>) {
    return query.view(r);
  } else if constexpr (std::same_as<K, string>) {
    static_assert(std::convertible_to<const Q&, std::string_view>,
                  "scute: a map with scute::string keys is asked with a std::string_view");
    return std::string_view(query);
  } else if constexpr (std::is_arithmetic_v<K> && std::is_arithmetic_v<Q>) {
    return static_cast<K>(query);
  } else {
    return (query);
  }
}

/// Moves n values as bytes; the ranges may overlap. Ownership moves along.
template <class T>
void relocate(T* to, const T* from, size_t n) noexcept {
  std::memmove(static_cast<void*>(to), static_cast<const void*>(from), n * sizeof(T));
}

/// Makes a value in a slot of uninitialised bytes. Types with assign(tx, x), such as string, take
/// x by that; the others by their constructors. No argument: the empty value. A T that owns objects
/// is copied with them if it is an lvalue, and moved as bytes if it is not.
template <class T, class... Args>
void construct([[maybe_unused]] tx& t, T* slot, Args&&... args) {
  require_storable<T>();
  if constexpr (sizeof...(Args) == 1 && (requires(T& made) {
                  made.assign(t, std::forward<Args>(args)...);
                }) && !(std::same_as<std::remove_cvref_t<Args>, T> && ...)) {
    T* made = ::new (static_cast<void*>(slot)) T();
    made->assign(t, std::forward<Args>(args)...);
  } else if constexpr (sizeof...(Args) == 1 && ownership<T>::owns &&
                       (std::same_as<std::remove_cv_t<std::remove_reference_t<Args>>, T> && ...) &&
                       (std::is_lvalue_reference_v<Args&&> && ...)) {
    // Another stored value: its bytes, and then copies of what it owns.
    (relocate(slot, &args, 1), ...);
    ownership<T>::duplicate(t, *slot);
  } else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
    if constexpr (sizeof...(Args) == 1 && std::is_arithmetic_v<T> &&
                  (std::is_arithmetic_v<std::remove_cvref_t<Args>> && ...)) {
      ::new (static_cast<void*>(slot)) T(static_cast<T>(args)...);
    } else {
      ::new (static_cast<void*>(slot)) T(std::forward<Args>(args)...);
    }
#pragma GCC diagnostic pop
  }
}

/// Replaces the value in a slot that holds one. The new value may be the old one, or be made of it:
/// it is complete before anything of the old one is freed.
template <class T, class Arg>
void replace(tx& t, T& slot, Arg&& arg) {
  if constexpr (std::same_as<T, std::remove_cvref_t<Arg>> && !std::is_lvalue_reference_v<Arg&&>) {
    if (static_cast<const void*>(std::addressof(arg)) == &slot) {
      return;  // moved to where it is
    }
  }
  if constexpr (std::same_as<T, string> && !(std::same_as<std::remove_cvref_t<Arg>, string> &&
                                             !std::is_lvalue_reference_v<Arg&&>)) {
    slot.assign(t, viewed(t, arg));
  } else if constexpr (ownership<T>::owns) {
    alignas(T) std::byte raw[sizeof(T)];
    T* const fresh = reinterpret_cast<T*>(raw);
    construct(t, fresh, std::forward<Arg>(arg));
    ownership<T>::release(t, slot);
    relocate(&slot, fresh, 1);
  } else {
    construct(t, &slot, std::forward<Arg>(arg));
  }
}

/// The bytes of a value as another value, which owns what the first does: for moving it, or to be
/// followed by ownership<T>::duplicate.
template <class T>
T same_bytes(const T& value) noexcept {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), static_cast<const void*>(&value), sizeof(T));
  return std::bit_cast<T>(raw);
}

/// a < b by Compare, which may want the reader: compare(r, a, b), or not: compare(a, b), and then
/// sees the text of strings.
template <class Compare, class A, class B>
bool less(const reader& r, const A& a, const B& b) {
  if constexpr (std::predicate<const Compare&, const reader&, const A&, const B&>) {
    return Compare{}(r, a, b);
  } else if constexpr (std::same_as<Compare, std::less<>> && std::same_as<A, string> &&
                       std::same_as<B, std::string_view>) {
    return a.compare(r, b) < 0;  // seldom follows the pointer of a long string
  } else if constexpr (std::same_as<Compare, std::less<>> && std::same_as<B, string> &&
                       std::same_as<A, std::string_view>) {
    return b.compare(r, a) > 0;
  } else {
    return Compare{}(viewed(r, a), viewed(r, b));
  }
}

}  // namespace scute::detail

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// ownership.hpp: values that own other objects of the pool.
//
// A scute::string or a container inside an object owns objects of its own. Stored types have no
// destructors (they are copied as bytes). So code that discards a value calls ownership<T>::release
// on it, in the same transaction. tx.destroy(p) and a container's erase do so.
//
// Which types own:
//  - a type with a member `void release(scute::tx&) const`, as every container has one;
//  - arrays of such types, and plain structs with such fields. These are found through fields.hpp,
//    so up to 24 fields and no base classes. Other classes write a release() that calls their
//    fields'.
// A ptr<T> owns nothing: its object may have other referrers.
#ifndef SCUTE_OWNERSHIP_HPP
#define SCUTE_OWNERSHIP_HPP

#include <scute/fields.hpp>
#include <scute/storable.hpp>

#include <type_traits>

namespace scute {

class tx;

namespace detail {

template <class T>
concept releases_itself = requires(const T& value, tx& t) { value.release(t); };

template <class T>
consteval bool owns_something();

template <class... Ts>
consteval bool owns_in_any(type_list<Ts...>) {
  return (owns_something<Ts>() || ...);
}

template <class T>
consteval bool owns_something() {
  using bare = std::remove_cv_t<std::remove_all_extents_t<T>>;
  if constexpr (releases_itself<bare>) {
    return true;
  } else if constexpr (is_std_array<bare>) {
    return owns_something<typename bare::value_type>();
  } else if constexpr (field_count<bare> != fields_unknown) {
    return owns_in_any(fields_of<bare>{});
  } else {
    return false;
  }
}

template <class T>
struct owns : std::bool_constant<owns_something<T>()> {};

}  // namespace detail

/// Customisation point; see above for what the primary template covers.
template <class T>
struct ownership {
  /// Discarding a T frees something.
  static constexpr bool owns = detail::owns<T>::value;

  /// Frees everything that `value` owns. Its bytes stay as they are and must not be used again.
  static void release([[maybe_unused]] tx& t, [[maybe_unused]] const T& value) {
    if constexpr (!owns) {
      return;
    } else if constexpr (detail::releases_itself<T>) {
      value.release(t);
    } else if constexpr (std::is_array_v<T> || detail::is_std_array<T>) {
      for (const auto& element : value) {
        ownership<std::remove_cvref_t<decltype(element)>>::release(t, element);
      }
    } else {
      detail::for_each_field<detail::owns>(value, [&t](const auto& field) {
        ownership<std::remove_cvref_t<decltype(field)>>::release(t, field);
      });
    }
  }

  /// `value` holds the bytes of another T: gives it copies of its own of what that one owns.
  /// For types with a member `void duplicate(scute::tx&)`, as scute::string, and structs of them.
  static void duplicate([[maybe_unused]] tx& t, [[maybe_unused]] T& value) {
    if constexpr (!owns) {
      return;
    } else if constexpr (detail::releases_itself<T>) {
      static_assert(
          requires { value.duplicate(t); },
          "scute: this type owns objects and cannot be copied, so it cannot be the key "
          "of an ordered_map");
      value.duplicate(t);
    } else if constexpr (std::is_array_v<T> || detail::is_std_array<T>) {
      for (auto& element : value) {
        ownership<std::remove_reference_t<decltype(element)>>::duplicate(t, element);
      }
    } else {
      detail::for_each_field<detail::owns>(value, [&t](auto& field) {
        ownership<std::remove_reference_t<decltype(field)>>::duplicate(t, field);
      });
    }
  }
};

}  // namespace scute

#endif

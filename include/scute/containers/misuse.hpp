// SPDX-License-Identifier: BSD-3-Clause
//
// misuse.hpp: what a standard container can do and one in a pool cannot. It does not compile, and
// the compiler says what to write instead.
#ifndef SCUTE_CONTAINERS_MISUSE_HPP
#define SCUTE_CONTAINERS_MISUSE_HPP

namespace scute::detail {

template <class...>
inline constexpr bool never = false;

/// begin() of a container without a reader.
template <class... None>
constexpr void require_scan() {
  static_assert(never<None...>,
                "scute: a container in a pool is walked over with what reads it: "
                "for (const auto& x : list.scan(pool)), or scan(tx)");
}

}  // namespace scute::detail

#endif

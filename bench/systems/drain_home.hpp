// SPDX-License-Identifier: BSD-3-Clause
// The work that a home (a store and the file that it is in) has put off.
#pragma once

namespace scute::bench {

// Does it now. False if such a home puts nothing off.
template <class Home>
bool drain_home(Home& home) {
  if constexpr (requires { home.drain(); }) {
    home.drain();
    return true;
  } else {
    return false;
  }
}

}  // namespace scute::bench

// SPDX-License-Identifier: BSD-3-Clause
//
// chain_watch.hpp: notices a chain of objects that runs in a circle. Internal.
//
// No container makes one, but a damaged file can contain one. A reader must terminate, or report an
// error, whatever the bytes are. Brent's method: one pointer of the chain is remembered, and
// exchanged after 1, 2, 4, ... steps; in a circle it is met again within twice the circle's length.
// A step costs two comparisons and reads nothing.
#ifndef SCUTE_CONTAINERS_CHAIN_WATCH_HPP
#define SCUTE_CONTAINERS_CHAIN_WATCH_HPP

#include <scute/containers/key.hpp>

#include <cstdint>

namespace scute::detail {

class chain_watch {
 public:
  /// To be called with each further object of the chain; null ends it. Throws errc::corrupt.
  void step(scute_oid next) {
    if (next == remembered_ && next != SCUTE_OID_NULL) [[unlikely]] {
      throw_corrupt("scute: a chain of objects runs in a circle");
    }
    if (++steps_ == exchange_at_) {
      remembered_ = next;
      exchange_at_ *= 2;
    }
  }

 private:
  scute_oid remembered_ = SCUTE_OID_NULL;
  uint64_t steps_ = 0;
  uint64_t exchange_at_ = 1;
};

}  // namespace scute::detail

#endif

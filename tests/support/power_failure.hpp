// SPDX-License-Identifier: BSD-3-Clause
// States of a pool's file that a power failure may leave, put together from images of it.
#pragma once

#include <algorithm>

#include "support/pool_file.hpp"

namespace scute::test {

// No parity had become durable since `before`.
inline void take_parity(const pool::geometry& g, const bytes& before, bytes& image) {
  const auto begin = static_cast<long>(pool::parity_offset(g, 0, 0)),
             end = static_cast<long>(g.zones_end());
  std::copy(before.begin() + begin, before.begin() + end, image.begin() + begin);
}

// The process is gone, and nothing was closed.
inline void abandon(pool_file& f) {
  f.in().abandon();
  scute_close(f.pool);
  f.pool = nullptr;
}

// The pool comes up again with these bytes.
inline void come_up(pool_file& f, const bytes& image, uint32_t flags = SCUTE_LAZY_RECOVERY) {
  abandon(f);
  write_file(f.path, image);
  f.open(flags);
}

}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/libraries/view_store.hpp"

#include <cstring>

#include "shield/interpose/stores/durability.hpp"
#include "shield/interpose/stores/reported_stores.hpp"

namespace scute::core::interpose {
namespace {

void after_store(const void* at, size_t n, unsigned flags) noexcept {
  if ((flags & store_no_flush) != 0) return;
  flush_lines(at, n);
  if ((flags & store_no_drain) == 0) fence_views();
}

}  // namespace

void move_into_view(void* to, const void* from, size_t n, unsigned flags) noexcept {
  {
    const known_store now(to, n);
    std::memmove(to, from, n);
  }
  after_store(to, n, flags);
}

void fill_view(void* to, int byte, size_t n, unsigned flags) noexcept {
  {
    const known_store now(to, n);
    std::memset(to, byte, n);
  }
  after_store(to, n, flags);
}

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// Which fragments have bytes in a page of the data rows, found from the chunk headers in the pool: for
// use where the heap's own tables cannot be, in signal handlers and during recovery.
#pragma once

#include <cstdint>

#include "pool/fragment.hpp"

namespace scute::heal {

struct fragment_in_page {
  pool::fragment fragment;
  scute_oid object;  // whose fragment it is, if its slot or span holds one; else null
};

// Calls fn(fragment_in_page) in the order of addresses. A page whose chunk header is damaged has none.
// Takes no lock and no memory; what changes meanwhile may be seen or not.
void for_each_fragment(const pool::state& s, uint64_t page,
                       void (*fn)(void*, const fragment_in_page&), void* arg) noexcept;

template <typename Fn>
void for_each_fragment(const pool::state& s, uint64_t page, Fn&& fn) noexcept {
  for_each_fragment(
      s, page, [](void* f, const fragment_in_page& p) { (*static_cast<Fn*>(f))(p); }, &fn);
}

}  // namespace scute::heal

// SPDX-License-Identifier: BSD-3-Clause
// Which fragments have bytes in a page of the data rows, found from the chunk headers in the pool:
// for use where the heap's own tables cannot be, in signal handlers and during recovery.
//
// LAYOUT-1 Where fragments can lie the chunk headers tell, by themselves: the places of a slot or
//    span do not change before its chunk gets another use. How many of the places hold a fragment
//    of an object the first header tells.
// LAYOUT-2 A part beyond what the first header tells is nobody's for whoever looks for damage. But
//    it may be a member of a transaction's ring: the object may have been freed, or its first
//    header torn or damaged, after the transaction that wrote the part and before that one's parity
//    was durable. Resolution therefore looks at all places, and accepts a member by its checksum,
//    its tag and its state. (Found by an attack from outside; the page layout had asked the first
//    header.)
// LAYOUT-3 Of a span that has been freed only such places count whose payload lies in chunks that
//    are still the span's: others may have got another use.
#pragma once

#include <cstdint>

#include "pool/fragment.hpp"

namespace scute::core::repair {

struct fragment_in_page {
  pool::fragment fragment;
  scute_oid object;     // whose fragment it is, if its slot or span holds one; else null
  bool claimed = true;  // false: a place that the first header says nothing of (LAYOUT-2)
};

// Calls fn(fragment_in_page) in the order of addresses. A page whose chunk header is damaged has
// none. Takes no lock and no memory; what changes meanwhile may be seen or not.
void for_each_fragment(const pool::state& s, uint64_t page,
                       void (*fn)(void*, const fragment_in_page&), void* arg) noexcept;

template <typename Fn>
void for_each_fragment(const pool::state& s, uint64_t page, Fn&& fn) noexcept {
  for_each_fragment(
      s, page, [](void* f, const fragment_in_page& p) { (*static_cast<Fn*>(f))(p); }, &fn);
}

// The same with the places that no first header claims.
void for_each_place(const pool::state& s, uint64_t page, void (*fn)(void*, const fragment_in_page&),
                    void* arg) noexcept;

template <typename Fn>
void for_each_place(const pool::state& s, uint64_t page, Fn&& fn) noexcept {
  for_each_place(
      s, page, [](void* f, const fragment_in_page& p) { (*static_cast<Fn*>(f))(p); }, &fn);
}

// The fragment whose header lies at an offset of the data rows, if there can be one there
// (LAYOUT-1).
bool place_at(const pool::state& s, uint64_t header, pool::fragment& f) noexcept;

// The first fragment of the object that a fragment belongs to.
pool::fragment first_of(const pool::fragment& f) noexcept;

// Where the headers of a span's fragments lie, if the chunk at `offset` is the head of one; else
// empty.
struct header_area {
  uint64_t offset = 0, length = 0;
};
header_area span_headers(const pool::state& s, uint64_t offset) noexcept;

}  // namespace scute::core::repair

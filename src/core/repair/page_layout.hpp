// SPDX-License-Identifier: BSD-3-Clause
// Finds the fragments that have bytes in a page of the data rows, from the chunk headers in the
// pool. For code that cannot use the heap's own tables: signal handlers and recovery.
//
// LAYOUT-1 The chunk headers alone say where fragments can lie: the places of a slot or span do not
//    change before its chunk gets another use. The first header says how many of the places hold a
//    fragment of an object.
// LAYOUT-2 A search for damage ignores a part beyond those that the first header claims. But it may
//    be a member of a transaction's ring. So resolution examines all places, and accepts a member
//    by its checksum, its tag and its state.
// LAYOUT-3 In a freed span only those places count whose payload lies in chunks that are still the
//    span's: other chunks may have got another use.
//
// On LAYOUT-2: the object may have been freed, or its first header torn or damaged, after the
// transaction that wrote the part and before that transaction's parity was durable. (Found by an
// attack from outside; the page layout had asked the first header.)
#pragma once

#include <cstdint>

#include "core/shared/fragment.hpp"

namespace scute::core::repair {

struct fragment_in_page {
  pool::fragment fragment;
  scute_oid object;     // the object whose fragment it is, if its slot or span holds one
  bool claimed = true;  // false: a place that the first header does not claim (LAYOUT-2)
};

// Calls fn(fragment_in_page) in the order of addresses. A page whose chunk header is damaged has
// none. Takes no lock and no memory; concurrent changes may be seen or not.
void for_each_fragment(const pool::state& s, uint64_t page,
                       void (*fn)(void*, const fragment_in_page&), void* arg) noexcept;

template <typename Fn>
void for_each_fragment(const pool::state& s, uint64_t page, Fn&& fn) noexcept {
  for_each_fragment(
      s, page, [](void* f, const fragment_in_page& p) { (*static_cast<Fn*>(f))(p); }, &fn);
}

// The same, also with the places that no first header claims.
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

// The range of the headers of a span's fragments, if the chunk at `offset` is the head of a span;
// otherwise empty.
struct header_area {
  uint64_t offset = 0, length = 0;
};
header_area span_headers(const pool::state& s, uint64_t offset) noexcept;

}  // namespace scute::core::repair

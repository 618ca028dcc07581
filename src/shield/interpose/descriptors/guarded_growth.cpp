// SPDX-License-Identifier: BSD-3-Clause
// Makes a guarded file longer (shield/supervisor/growth.hpp, LENGTH-1, LENGTH-3).
#include <algorithm>
#include <string>

#include "base/failure.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/supervisor/growth.hpp"

namespace scute::core::interpose {

void guarded_file::require_capacity(uint64_t size) const {
  if (size > pool_->capacity())
    throw failure(SCUTE_E_NOSPC, "its protection has room for " +
                                     std::to_string(pool_->capacity()) + " bytes, and not for " +
                                     std::to_string(size) +
                                     "; `scute shield adopt --capacity` makes more");
}

void guarded_file::cannot_grow() {
  reserved_.store(0);  // a growth that fails gives it back
  throw failure(pool_->had_no_room() ? SCUTE_E_NOSPC : SCUTE_E_IO,
                "cannot make it longer: " + pool_->why());
}

// Reserves whole pages, so that a program that appends a little at a time asks once per page.
void guarded_file::reserve(uint64_t size) {
  require_capacity(size);
  if (size <= reserved_.load()) return;
  const uint64_t whole = (size + view::page_size - 1) / view::page_size * view::page_size;
  const uint64_t wanted = std::min(whole, pool_->capacity());
  if (!pool_->reserve(wanted)) cannot_grow();
  // otherwise a store to a hole that a write leaves could meet a full disk
  memory_->reserve(wanted);
  reserved_.store(wanted);
}

void guarded_file::grow(uint64_t size) {
  if (size <= view_->size()) return;
  require_capacity(size);
  const pages_stay here;  // the last page changes
  if (!supervisor::grow_view(*view_, *memory_, size)) cannot_grow();
}

void guarded_file::catch_up() {
  if (!is_open()) return;
  if (const uint64_t length = memory_->length(); length > view_->size()) grow(length);
}

}  // namespace scute::core::interpose

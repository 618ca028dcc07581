// SPDX-License-Identifier: BSD-3-Clause
// The place of one object: its slot or span, its fragments.
#pragma once

#include <cstdint>

#include "core/heap/chunk_record.hpp"
#include "core/shared/object_place.hpp"

namespace scute::core::heap {

struct object : pool::object_place {
  chunk_record* chunk = nullptr;
  uint32_t slot = 0;  // run: index of the slot

  bool is_span() const noexcept {
    const use now = chunk->kind.load(std::memory_order_relaxed);
    return now == use::span || now == use::pending_span;
  }
  pool::fragment fragment(uint64_t index) const noexcept { return part(index, chunk->generation); }
};

}  // namespace scute::core::heap

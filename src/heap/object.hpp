// SPDX-License-Identifier: BSD-3-Clause
// Where one object lies: its slot or span, its fragments.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heap/chunk_state.hpp"
#include "pool/fragment.hpp"

namespace scute::heap {

struct object {
  chunk_state* chunk = nullptr;
  uint32_t slot = 0;     // run: index of the slot
  uint64_t header = 0;   // file offset of fragment header 0; the others follow it
  uint64_t payload = 0;  // file offset of the first payload byte
  uint64_t room = 0;     // payload bytes that fit

  bool is_span() const noexcept { return chunk->kind.load(std::memory_order_relaxed) == use::span; }

  pool::fragment fragment(uint64_t index) const noexcept {
    pool::fragment f;
    f.header = header + index * format::header_size;
    f.payload = payload + index * format::fragment_payload;
    f.room = static_cast<uint32_t>(
        std::min(format::fragment_payload, room - index * format::fragment_payload));
    f.object_room = room;
    f.index = index;
    f.generation = chunk->generation;
    return f;
  }
};

}  // namespace scute::heap

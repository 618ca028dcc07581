// SPDX-License-Identifier: BSD-3-Clause
// The division of a slot or a span: k fragment headers and then the payload, k being the fewest
// that cover it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/shared/fragment.hpp"

namespace scute::core::pool {

// Fragment headers needed at the start of a slot or span of `size` bytes.
constexpr uint64_t fragments_of(uint64_t size) noexcept {
  constexpr uint64_t whole = format::fragment_payload + format::header_size;
  return (size + whole - 1) / whole;
}
constexpr uint64_t payload_room(uint64_t size) noexcept {
  return size - fragments_of(size) * format::header_size;
}

// Where an object lies, or may lie.
struct object_place {
  uint64_t header = 0;   // file offset of fragment header 0; the others follow it
  uint64_t payload = 0;  // file offset of the first payload byte
  uint64_t room = 0;     // payload bytes that fit

  // A slot or span of `size` bytes at this file offset.
  static constexpr object_place at(uint64_t offset, uint64_t size) noexcept {
    return {offset, offset + fragments_of(size) * format::header_size, payload_room(size)};
  }
  // generation: of its chunk.
  pool::fragment part(uint64_t index, uint16_t generation) const noexcept {
    pool::fragment f;
    f.header = header + index * format::header_size;
    f.payload = payload + index * format::fragment_payload;
    f.room = static_cast<uint32_t>(
        std::min(format::fragment_payload, room - index * format::fragment_payload));
    f.object_room = room;
    f.index = index;
    f.generation = generation;
    return f;
  }
};

}  // namespace scute::core::pool

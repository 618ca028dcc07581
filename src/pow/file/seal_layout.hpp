// SPDX-License-Identifier: BSD-3-Clause
// The layout of a seal (src/pow/file/format.hpp, seal_table): the table, the XOR of its members'
// bytes, the table again.
#pragma once

#include "pow/file/format.hpp"
#include "pow/file/space.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

inline uint64_t base_of(const state& s, uint32_t segment) {
  return s.space->place(segment).at[0];
}
// Where the XOR of the members' bytes from `offset` on lies.
inline uint64_t sum_at(const state& s, uint32_t seal, uint64_t offset) {
  return base_of(s, seal) + sizeof(seal_table) + offset;
}
inline uint64_t copy_at(const state& s, uint32_t seal) {
  return base_of(s, seal) + s.head.segment_size - sizeof(seal_table);
}
// Bytes of a member that are in the XOR.
inline uint64_t summed(const seal_member& m) {
  return m.end * log::line_size;
}

}  // namespace scute::core::pow

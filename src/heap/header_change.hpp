// SPDX-License-Identifier: BSD-3-Clause
// What the parts of zone_table that change headers share.
#pragma once

#include <cstdint>

#include "pool/lane.hpp"

namespace scute::core::heap {

// Never 0 again, which is the generation of chunks that nothing has lain in yet (HEAP-3).
constexpr uint16_t next_generation(uint16_t g) noexcept {
  return g == UINT16_MAX ? uint16_t{1} : static_cast<uint16_t>(g + 1);
}

constexpr pool::patch metadata_patch(uint64_t offset, const void* src, uint32_t n) noexcept {
  return {offset, src, n, medium::purpose::metadata};
}

}  // namespace scute::core::heap

// SPDX-License-Identifier: BSD-3-Clause
// Slot sizes of runs. The table is not part of the format (each chunk header has its slot size), so
// it may change between versions.
//
// A slot of up to 4 KiB has one fragment header (core/shared/object_place.hpp). Headers must not
// straddle a cache line, so slots are multiples of 32 bytes, the smallest being one line: a header
// and 32 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/shared/object_place.hpp"

namespace scute::core::heap {

class size_classes {
 public:
  explicit size_classes(uint32_t chunk_size);

  static constexpr int none = -1;
  // Smallest class whose slots hold `size` payload bytes, or none if only a span does.
  int of(uint64_t size) const noexcept;
  uint32_t slot_size(int c) const noexcept { return slots_[static_cast<size_t>(c)]; }
  int count() const noexcept { return static_cast<int>(slots_.size()); }
  // The class whose slots have exactly this size, or none (a pool of another version's table).
  int exact(uint32_t slot_size) const noexcept;

 private:
  std::vector<uint32_t> slots_;
  std::vector<int8_t> small_;  // by (payload + 31) / 32, up to one fragment
};

}  // namespace scute::core::heap

// SPDX-License-Identifier: BSD-3-Clause
#include "core/heap/size_classes.hpp"

#include <algorithm>

namespace scute::core::heap {

size_classes::size_classes(uint32_t chunk_size) {
  // One fragment: fine steps while small, then quarters of a power of two. Also every power of two
  // plus a header, since programs often choose such payloads.
  constexpr uint32_t one_fragment[] = {64,   96,   128,  160,  192,  224,  256, 288,  320,
                                       384,  448,  512,  544,  640,  768,  896, 1056, 1280,
                                       1536, 1792, 2080, 2560, 3072, 3584, 4128};
  for (const uint32_t s : one_fragment)
    if (s <= chunk_size / 2) slots_.push_back(s);
  // Several fragments: fractions of a chunk, so that nothing is left over at its end.
  constexpr uint32_t per_chunk[] = {56, 48, 40, 32, 24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2};
  for (const uint32_t n : per_chunk) {
    const uint32_t s = chunk_size / n / 32 * 32;
    if (s > slots_.back()) slots_.push_back(s);
  }
  small_.resize(format::fragment_payload / 32 + 1);
  for (size_t i = 0; i < small_.size(); ++i) {
    const auto it = std::find_if(slots_.begin(), slots_.end(),
                                 [&](uint32_t s) { return pool::payload_room(s) >= i * 32; });
    small_[i] = static_cast<int8_t>(it == slots_.end() ? none : it - slots_.begin());
  }
}

int size_classes::of(uint64_t size) const noexcept {
  if (size <= format::fragment_payload) return small_[(size + 31) / 32];
  for (size_t i = 0; i < slots_.size(); ++i)
    if (pool::payload_room(slots_[i]) >= size) return static_cast<int>(i);
  return none;
}

int size_classes::exact(uint32_t slot_size) const noexcept {
  const auto it = std::lower_bound(slots_.begin(), slots_.end(), slot_size);
  return it != slots_.end() && *it == slot_size ? static_cast<int>(it - slots_.begin()) : none;
}

}  // namespace scute::core::heap

// SPDX-License-Identifier: BSD-3-Clause
// The words of a block that do not fill a vector register, shared by the variants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/bytes.hpp"

namespace scute::core::codec::diff_word {

// The bits of the words from byte `i`, a multiple of 8, to the end.
inline uint64_t differing(const unsigned char* a, const unsigned char* b, size_t i,
                          size_t n) noexcept {
  uint64_t mask = 0;
  for (; n - i >= 8; i += 8) {
    const bool d = load<uint64_t>(a + i) != load<uint64_t>(b + i);
    mask |= uint64_t{d} << (i / 8);
  }
  if (i < n) {
    const bool d = load_partial(a + i, n - i) != load_partial(b + i, n - i);
    mask |= uint64_t{d} << (i / 8);
  }
  return mask;
}

}  // namespace scute::core::codec::diff_word

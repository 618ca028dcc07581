// SPDX-License-Identifier: BSD-3-Clause
// The words of a block that do not fill a vector register, shared by the variants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/bytes.hpp"

namespace scute::codec::diff_word {

// The bits of the words from byte `i`, a multiple of 8, to the end.
inline std::uint64_t differing(const unsigned char* a, const unsigned char* b, std::size_t i,
                               std::size_t n) noexcept {
  std::uint64_t mask = 0;
  for (; n - i >= 8; i += 8) {
    const bool d = load<std::uint64_t>(a + i) != load<std::uint64_t>(b + i);
    mask |= std::uint64_t{d} << (i / 8);
  }
  if (i < n) {
    const bool d = load_partial(a + i, n - i) != load_partial(b + i, n - i);
    mask |= std::uint64_t{d} << (i / 8);
  }
  return mask;
}

}  // namespace scute::codec::diff_word

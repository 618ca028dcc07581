// SPDX-License-Identifier: BSD-3-Clause
#include "codec/diff/diff_table.hpp"
#include "codec/diff/diff_word.hpp"

namespace scute::core::codec {

namespace {

uint64_t differing(const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  return diff_word::differing(a, b, 0, n);
}

}  // namespace

constinit const diff_table diff_portable{"portable", {}, differing};

}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
#include "codec/parity/galois.hpp"

#include <cassert>
#include <cstring>

#include "codec/dispatch.hpp"
#include "codec/parity/galois_table.hpp"
#include "codec/parity/parity.hpp"
#include "codec/target.hpp"

namespace scute::core::codec {

namespace {

constexpr const galois_table* tables[] = {
    &galois_portable,
#if SCUTE_CODEC_X86
    &galois_avx2,
    &galois_avx512,
#endif
};

constinit dispatch<galois_table> active{&galois_portable};
[[maybe_unused]] const bool selected = active.select(tables);

unsigned char* bytes(void* p) {
  return static_cast<unsigned char*>(p);
}
const unsigned char* bytes(const void* p) {
  return static_cast<const unsigned char*>(p);
}

}  // namespace

void galois::multiply(void* dst, const void* src, uint8_t coefficient, size_t n) noexcept {
  if (n == 0) {
    return;
  }
  if (coefficient > 1) {
    active->multiply(bytes(dst), bytes(src), coefficient, n);
  } else if (coefficient == 0) {
    std::memset(dst, 0, n);
  } else if (dst != src) {
    std::memcpy(dst, src, n);
  }
}

void galois::multiply_into(void* dst, const void* src, uint8_t coefficient, size_t n) noexcept {
  if (n == 0) {
    return;
  }
  if (coefficient > 1) {
    active->multiply_into(bytes(dst), bytes(src), coefficient, n);
  } else if (coefficient == 1) {
    xor_into(dst, src, n);
  }
}

void galois::combine(void* const* out, size_t sum_count, const void* const* rows,
                     const weights* weight, size_t row_count, size_t n) noexcept {
  assert(sum_count <= sums_max);
  if (n == 0 || sum_count == 0) {
    return;
  }
  if (row_count == 0) {
    for (size_t s = 0; s < sum_count; ++s) {
      std::memset(out[s], 0, n);
    }
    return;
  }
  active->combine(out, sum_count, rows, weight, row_count, n);
}

std::vector<const galois_table*> galois_variants() {
  return runnable<galois_table>(tables);
}

}  // namespace scute::core::codec

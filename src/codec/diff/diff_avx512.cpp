// SPDX-License-Identifier: BSD-3-Clause
// Word comparison, eight words a step straight into mask
// bits. The last bytes are loaded under a mask, which touches nothing after them.
#include <cassert>

#include "codec/diff/diff_table.hpp"
#include "codec/target.hpp"

#if SCUTE_CODEC_X86

#include "codec/intrinsics.hpp"

namespace scute::core::codec {

namespace {

#define SCUTE_DIFF_ISA "avx512f,avx512bw,avx512vl,avx512dq"

SCUTE_TARGET_INLINE(SCUTE_DIFF_ISA)
uint64_t eight(const unsigned char* a, const unsigned char* b) noexcept {
  return _cvtmask8_u32(_mm512_cmpneq_epi64_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
}

SCUTE_TARGET(SCUTE_DIFF_ISA)
uint64_t differing(const unsigned char* a, const unsigned char* b, size_t n) noexcept {
  assert(n <= diff_block);
  uint64_t mask = 0;
  size_t i = 0;
  for (; n - i >= 256; i += 256) {
    const uint64_t low = eight(a + i, b + i) | eight(a + i + 64, b + i + 64) << 8;
    const uint64_t high = eight(a + i + 128, b + i + 128) | eight(a + i + 192, b + i + 192) << 8;
    mask |= (low | high << 16) << (i / 8);
  }
  for (; n - i >= 64; i += 64) {
    mask |= eight(a + i, b + i) << (i / 8);
  }
  if (i < n) {
    const __mmask64 m = (__mmask64{1} << (n - i)) - 1;
    const uint64_t d = _cvtmask8_u32(_mm512_cmpneq_epi64_mask(_mm512_maskz_loadu_epi8(m, a + i),
                                                              _mm512_maskz_loadu_epi8(m, b + i)));
    mask |= d << (i / 8);
  }
  return mask;
}

}  // namespace

constinit const diff_table diff_avx512{
    "avx512", {.sse42 = true, .avx2 = true, .avx512 = true}, differing};

}  // namespace scute::core::codec

#endif

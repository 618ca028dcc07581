// SPDX-License-Identifier: BSD-3-Clause
#include "shield/view/line_copy.hpp"

#include <sched.h>

#include "base/locks/waiting.hpp"
#include "codec/cpu.hpp"
#include "codec/target.hpp"

namespace scute::core::view {
namespace {

// Copies words by atomic loads, so that a concurrent store of a word is copied as a whole or not at
// all.
void copy_words(line& to, const std::byte* from, unsigned first, unsigned end) noexcept {
  for (unsigned i = first; i < end; ++i) {
    const uint64_t word =
        __atomic_load_n(reinterpret_cast<const uint64_t*>(from) + i, __ATOMIC_RELAXED);
    std::memcpy(to.bytes.data() + 8 * i, &word, 8);
  }
}

#if SCUTE_CODEC_X86
// Not an intrinsic: a compiler may split its load, or move it up. Registers above 15 leave no upper
// halves dirty.
SCUTE_TARGET("avx512f")
void copy_whole(line& to, const std::byte* from) noexcept {
  asm volatile(
      "vmovdqa64 (%1), %%zmm16\n\t"
      "vmovdqa64 %%zmm16, (%0)"
      :
      : "r"(to.bytes.data()), "r"(from)
      : "xmm16", "memory");
}
#endif

}  // namespace

bool line_copy_whole() noexcept {
  return SCUTE_CODEC_X86 != 0 && codec::cpu().avx512;
}

void line_copy(line& to, const std::byte* from) noexcept {
#if SCUTE_CODEC_X86
  if (codec::cpu().avx512) {
    copy_whole(to, from);
    return;
  }
#endif
  copy_words(to, from, 0, 8);
}

}  // namespace scute::core::view

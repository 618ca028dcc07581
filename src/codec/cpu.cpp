// SPDX-License-Identifier: BSD-3-Clause
#include "codec/cpu.hpp"

#include <cstdlib>

#include "codec/target.hpp"

#if SCUTE_CODEC_X86
#include <cpuid.h>
#endif

namespace scute::core::codec {

namespace {

#if SCUTE_CODEC_X86

constexpr uint32_t bit(unsigned n) {
  return uint32_t{1} << n;
}

constexpr bool all(uint32_t word, uint32_t wanted) {
  return (word & wanted) == wanted;
}

// The state components that the operating system saves on a context switch. Using a register it
// does not save would corrupt other processes' and our own data, so cpuid alone is not enough.
uint32_t saved_state() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

cpu_features detect() {
  cpu_features f;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  uint32_t leaf_7_c = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) {
    return f;
  }
  constexpr uint32_t sse42_bits = bit(0) | bit(9) | bit(19) | bit(20);  // SSE3, SSSE3, 4.1, 4.2
  f.sse42 = all(c, sse42_bits);
  f.pclmul = all(c, bit(1));

  const bool has_leaf_7 = __get_cpuid_count(7, 0, &a, &b, &leaf_7_c, &d) != 0;
  const uint32_t leaf_7_b = has_leaf_7 ? b : 0;
  f.clflushopt = all(leaf_7_b, bit(23));
  f.clwb = all(leaf_7_b, bit(24));

  constexpr uint32_t osxsave_avx = bit(27) | bit(28);
  if (!f.sse42 || !all(c, osxsave_avx)) {
    return f;
  }
  constexpr uint32_t ymm_state = bit(1) | bit(2);
  constexpr uint32_t zmm_state = ymm_state | bit(5) | bit(6) | bit(7);  // masks, both zmm halves
  const uint32_t saved = saved_state();
  if (!all(saved, ymm_state)) {
    return f;
  }
  f.avx2 = all(leaf_7_b, bit(5));
  if (f.avx2 && all(saved, zmm_state)) {
    f.avx512 = all(leaf_7_b, bit(16) | bit(17) | bit(30) | bit(31));  // F, DQ, BW, VL
    f.vpclmul = f.avx512 && f.pclmul && all(leaf_7_c, bit(10));
    f.gfni = f.avx512 && all(leaf_7_c, bit(8));
  }
  return f;
}

#else

cpu_features detect() {
  return {};
}

#endif

cpu_features select() {
  const cpu_features have = cpu_detect();
  const char* wanted = std::getenv("SCUTE_CPU");
  cpu_level level = cpu_level::avx512;
  if (wanted != nullptr && cpu_level_parse(wanted, level)) {
    return cpu_limit(have, level);
  }
  return have;
}

}  // namespace

bool cpu_features::has(const cpu_features& needed) const noexcept {
  return (sse42 || !needed.sse42) && (pclmul || !needed.pclmul) && (avx2 || !needed.avx2) &&
         (avx512 || !needed.avx512) && (vpclmul || !needed.vpclmul) && (gfni || !needed.gfni) &&
         (clflushopt || !needed.clflushopt) && (clwb || !needed.clwb);
}

cpu_features cpu_detect() noexcept {
  return detect();
}

cpu_features cpu_limit(cpu_features have, cpu_level level) noexcept {
  if (level < cpu_level::avx512) {
    have.avx512 = have.vpclmul = have.gfni = false;
  }
  if (level < cpu_level::avx2) {
    have.avx2 = false;
  }
  if (level < cpu_level::sse) {
    have.sse42 = have.pclmul = have.clflushopt = have.clwb = false;
  }
  return have;
}

bool cpu_level_parse(std::string_view name, cpu_level& out) noexcept {
  struct entry {
    std::string_view name;
    cpu_level level;
  };
  constexpr entry entries[] = {{"portable", cpu_level::portable},
                               {"sse", cpu_level::sse},
                               {"avx2", cpu_level::avx2},
                               {"avx512", cpu_level::avx512}};
  for (const entry& e : entries) {
    if (e.name == name) {
      out = e.level;
      return true;
    }
  }
  return false;
}

const cpu_features& cpu() noexcept {
  static const cpu_features selected = select();
  return selected;
}

}  // namespace scute::core::codec

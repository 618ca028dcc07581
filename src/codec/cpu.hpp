// SPDX-License-Identifier: BSD-3-Clause
// The features of the CPU, and those that Scute uses.
//
// This is the only place that asks: the codec's kernels, the fused ones of medium/ and its
// write-backs all use these flags. Every function has a portable implementation and zero or more
// faster ones that give bit-identical results. Which of them runs is decided once, when the program
// is loaded.
//
// The environment variable SCUTE_CPU lowers the choice for tests and for suspected hardware faults:
//
//   portable   no instruction beyond the architecture's baseline, so write-backs are CLFLUSH
//   sse        SSE4.2 and PCLMULQDQ
//   avx2       the above and AVX2
//   avx512     everything known
//
// It is read once, can never enable what the CPU or the operating system lacks, and any other value
// is ignored.
//
// All functions may be called from any thread at any time, static initialisation included.
#pragma once

#include <cstdint>
#include <string_view>

namespace scute::core::codec {

// A flag is set only if the instructions exist and the operating system saves the registers they
// use.
struct cpu_features {
  bool sse42 = false;    // SSE4.2 with all before it, CRC32 instruction
  bool pclmul = false;   // 128-bit carry-less multiply
  bool avx2 = false;     // AVX and AVX2
  bool avx512 = false;   // F, BW, VL and DQ together
  bool vpclmul = false;  // carry-less multiply on 512-bit registers; implies avx512
  bool gfni = false;     // bit matrices times bytes on 512-bit registers; implies avx512
  bool clflushopt = false, clwb = false;  // write-backs that are ordered by fences alone

  // True if every flag set in `needed` is set here.
  [[nodiscard]] bool has(const cpu_features& needed) const noexcept;
};

enum class cpu_level : uint8_t { portable, sse, avx2, avx512 };

// The features of this machine, whatever SCUTE_CPU says.
[[nodiscard]] cpu_features cpu_detect() noexcept;

// `have` without the features above `level`.
[[nodiscard]] cpu_features cpu_limit(cpu_features have, cpu_level level) noexcept;

// Reads a level's name as written in SCUTE_CPU. Returns false and leaves `out` alone if it is
// unknown.
bool cpu_level_parse(std::string_view name, cpu_level& out) noexcept;

// The features in use: cpu_detect() limited by SCUTE_CPU.
[[nodiscard]] const cpu_features& cpu() noexcept;

}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
// SCUTE_CPU reaches the code that moves bytes to the medium. tests/CMakeLists.txt runs this
// folder, and others, a second time with SCUTE_CPU=portable.
#include <gtest/gtest.h>
#include <scute/scute.h>

#include <cstdlib>
#include <string>

#include "codec/cpu.hpp"
#include "core/medium/fused.hpp"
#include "core/medium/persist.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

std::string level() {
  const char* wanted = std::getenv("SCUTE_CPU");
  return wanted != nullptr ? wanted : "avx512";
}

// The widest kernels that this machine has and the variable allows.
std::string widest() {
#if defined(__x86_64__)
  const bool wide =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  if (level() == "avx512" && wide) return "avx512";
  if ((level() == "avx512" || level() == "avx2") && __builtin_cpu_supports("avx2") != 0)
    return "avx2";
#endif
  return "portable";
}

TEST(cpu_level, FusedKernelsAreOfTheLevel) {
  EXPECT_EQ(medium::fused(false).name, widest());
  EXPECT_EQ(medium::fused(true).name, widest());
}

TEST(cpu_level, WriteBacksAreOfTheLevel) {
  const codec::cpu_features& f = codec::cpu();
  std::string expected = f.clwb ? "clwb" : f.clflushopt ? "clflushopt" : "clflush";
  if (const char* chosen = std::getenv("SCUTE_FLUSH")) expected = chosen;
#if defined(__x86_64__)
  EXPECT_EQ(medium::persist().flush_name, expected);
  if (level() == "portable") {
    EXPECT_EQ(expected, "clflush");
  }
#else
  EXPECT_STREQ(medium::persist().flush_name, "none");
#endif
}

// The text that `scute info` shows as kernels.
TEST(cpu_level, AnOpenPoolReportsIt) {
  pool_file f{scratch::memory};
  f.create(options(4 * mib, pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE)));
  scute_info info;
  info.struct_size = sizeof info;
  ASSERT_EQ(scute_pool_info(f, &info), SCUTE_OK) << scute_errormsg();
  const std::string reported = info.simd;
  EXPECT_EQ(reported == "sse4.2" ? "portable" : reported, widest());
}

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
#include "codec/cpu.hpp"

#include <gtest/gtest.h>

#include "codec/checksum/adler32_table.hpp"
#include "codec/checksum/crc32c_table.hpp"
#include "codec/diff/diff_table.hpp"
#include "codec/parity/galois_table.hpp"
#include "codec/parity/parity_table.hpp"
#include "codec/target.hpp"

namespace scute::core::codec {
namespace {

constexpr cpu_features everything{.sse42 = true,
                                  .pclmul = true,
                                  .avx2 = true,
                                  .avx512 = true,
                                  .vpclmul = true,
                                  .gfni = true,
                                  .clflushopt = true,
                                  .clwb = true};

TEST(Cpu, LevelNames) {
  cpu_level level = cpu_level::portable;
  EXPECT_TRUE(cpu_level_parse("avx512", level));
  EXPECT_EQ(level, cpu_level::avx512);
  EXPECT_TRUE(cpu_level_parse("avx2", level));
  EXPECT_EQ(level, cpu_level::avx2);
  EXPECT_TRUE(cpu_level_parse("sse", level));
  EXPECT_EQ(level, cpu_level::sse);
  EXPECT_TRUE(cpu_level_parse("portable", level));
  EXPECT_EQ(level, cpu_level::portable);
  level = cpu_level::sse;
  EXPECT_FALSE(cpu_level_parse("AVX2", level));
  EXPECT_FALSE(cpu_level_parse("", level));
  EXPECT_EQ(level, cpu_level::sse);
}

TEST(Cpu, LimitOnlyTakesAway) {
  EXPECT_TRUE(cpu_limit(everything, cpu_level::avx512).has(everything));

  const cpu_features avx2 = cpu_limit(everything, cpu_level::avx2);
  EXPECT_TRUE(avx2.has({.sse42 = true, .pclmul = true, .avx2 = true}));
  EXPECT_FALSE(avx2.avx512 || avx2.vpclmul || avx2.gfni);

  const cpu_features sse = cpu_limit(everything, cpu_level::sse);
  EXPECT_TRUE(sse.has({.sse42 = true, .pclmul = true}));
  EXPECT_TRUE(sse.has({.clflushopt = true, .clwb = true}));
  EXPECT_FALSE(sse.avx2 || sse.avx512 || sse.vpclmul || sse.gfni);

  const cpu_features none = cpu_limit(everything, cpu_level::portable);
  EXPECT_FALSE(none.sse42 || none.pclmul || none.avx2 || none.avx512 || none.vpclmul || none.gfni);
  EXPECT_FALSE(none.clflushopt || none.clwb);
  EXPECT_TRUE(none.has({}));

  const cpu_features absent = cpu_limit({}, cpu_level::avx512);
  EXPECT_FALSE(absent.sse42 || absent.avx2 || absent.avx512);
}

TEST(Cpu, DetectionIsConsistentAndInUse) {
  const cpu_features have = cpu_detect();
  EXPECT_TRUE(have.has(cpu()));
  EXPECT_TRUE(!have.avx2 || have.sse42);
  EXPECT_TRUE(!have.avx512 || have.avx2);
  EXPECT_TRUE(!have.vpclmul || (have.avx512 && have.pclmul));
  EXPECT_TRUE(!have.gfni || have.avx512);
#if SCUTE_CODEC_X86
  EXPECT_EQ(have.sse42, __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(have.avx2, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(have.avx512,
            __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0);
#if defined(__GNUC__) && !defined(__clang__)
  EXPECT_EQ(have.clwb, __builtin_cpu_supports("clwb") != 0);
  EXPECT_EQ(have.clflushopt, __builtin_cpu_supports("clflushopt") != 0);
#endif
  EXPECT_EQ(have.gfni, have.avx512 && __builtin_cpu_supports("gfni") != 0);
#endif
}

TEST(Cpu, PortableVariantsAreAlwaysThere) {
  EXPECT_STREQ(crc32c_variants().at(0)->name, "portable");
  EXPECT_STREQ(adler32_variants().at(0)->name, "portable");
  EXPECT_STREQ(parity_variants().at(0)->name, "portable");
  EXPECT_STREQ(diff_variants().at(0)->name, "portable");
  EXPECT_STREQ(galois_variants().at(0)->name, "portable");
}

}  // namespace
}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum/adler32.hpp"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "codec/checksum/adler32_table.hpp"
#include "guarded_buffer.hpp"
#include "seeded.hpp"

namespace scute::core::codec {
namespace {

using test::guarded_buffer;

constexpr size_t length_max = 300000;  // more than one accumulation block of every kernel

uint32_t reference(const unsigned char* p, size_t n) {
  uint64_t a = 1;
  uint64_t b = 0;
  for (size_t i = 0; i < n; ++i) {
    a = (a + p[i]) % 65521;
    b = (b + a) % 65521;
  }
  return static_cast<uint32_t>(b << 16 | a);
}

uint32_t from_sums(const adler32_table& v, const unsigned char* p, size_t n) {
  const adler32_sums s = v.sums(p, n);
  const uint64_t a = (1 + uint64_t{s.plain}) % 65521;
  const uint64_t b = (n + uint64_t{s.weighted}) % 65521;
  return static_cast<uint32_t>(b << 16 | a);
}

TEST(Adler32, KnownVectors) {
  EXPECT_EQ(adler32(1, "", 0), 1U);
  EXPECT_EQ(adler32(1, "a", 1), 0x00620062U);
  EXPECT_EQ(adler32(1, "Wikipedia", 9), 0x11E60398U);
}

TEST(Adler32, EveryVariantEqualsTheDefinition) {
  SCUTE_RANDOM(random);
  guarded_buffer buffer(length_max);
  random.fill(buffer.at_begin(), length_max);
  random.fill(buffer.at_end(5000), 5000);
  for (const adler32_table* v : adler32_variants()) {
    SCOPED_TRACE(v->name);
    for (size_t k = 0; k < 900; ++k) {
      const size_t n = k < 400 ? k : random.length(60000);
      const unsigned char* p = buffer.place(n, random.between(0, 1) != 0);
      ASSERT_EQ(from_sums(*v, p, n), reference(p, n)) << n;
    }
  }
}

TEST(Adler32, LargestBytesDoNotOverflow) {
  guarded_buffer buffer(length_max);
  std::fill_n(buffer.at_begin(), length_max, static_cast<unsigned char>(0xFF));
  const uint32_t expected = reference(buffer.at_begin(), length_max);
  for (const adler32_table* v : adler32_variants()) {
    EXPECT_EQ(from_sums(*v, buffer.at_begin(), length_max), expected) << v->name;
  }
  EXPECT_EQ(adler32(1, buffer.at_begin(), length_max), expected);
}

TEST(Adler32, EqualsIsalAndChains) {
  SCUTE_RANDOM(random);
  const auto bytes = random.bytes(20000);
  for (int k = 0; k < 500; ++k) {
    const size_t n = random.length(bytes.size());
    const size_t cut = random.length(n);
    const uint32_t whole = adler32(1, bytes.data(), n);
    ASSERT_EQ(whole, isal_adler32(1, bytes.data(), n)) << n;
    ASSERT_EQ(adler32(adler32(1, bytes.data(), cut), bytes.data() + cut, n - cut), whole) << n;
  }
}

TEST(Adler32, UpdateFarBeforeTheEnd) {
  SCUTE_RANDOM(random);
  for (int k = 0; k < 200; ++k) {
    // Two updates that swap the bytes and swap them back leave the sum alone, at any distance.
    const size_t n = random.length(3000);
    const uint64_t after = random.between(0, uint64_t{1} << 40);
    const auto a = random.bytes(n);
    const auto b = random.bytes(n);
    const uint32_t sum = adler32(1, a.data(), n);
    const uint32_t there = adler32_update(sum, a.data(), b.data(), n, after);
    ASSERT_EQ(adler32_update(there, b.data(), a.data(), n, after), sum);
    ASSERT_EQ(there, adler32_update(sum, a.data(), b.data(), n, after + 65521));
  }
}

}  // namespace
}  // namespace scute::core::codec

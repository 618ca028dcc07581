// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum/crc32c.hpp"

#include <gtest/gtest.h>
#include <isa-l/crc.h>

#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "codec/checksum/crc32c_table.hpp"
#include "guarded_buffer.hpp"
#include "seeded.hpp"

namespace scute::core::codec {
namespace {

using test::guarded_buffer;

constexpr size_t crc32c_length_max = 70000;

// A register after zero bytes, as a linear map given by its images of the 32 bits: an
// implementation that shares nothing with the kernels.
using linear_map = std::array<uint32_t, 32>;

uint32_t image_of(const linear_map& m, uint32_t v) {
  uint32_t out = 0;
  for (; v != 0; v &= v - 1) out ^= m[static_cast<unsigned>(std::countr_zero(v))];
  return out;
}

uint32_t shift_reference(uint32_t reg, uint64_t bytes) {
  linear_map map{};
  for (unsigned bit = 0; bit < 32; ++bit) {
    uint32_t v = uint32_t{1} << bit;
    for (int i = 0; i < 8; ++i) v = (v >> 1) ^ ((v & 1) != 0 ? 0x82F63B78U : 0);
    map[bit] = v;
  }
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) reg = image_of(map, reg);
    linear_map twice{};
    for (unsigned bit = 0; bit < 32; ++bit) twice[bit] = image_of(map, map[bit]);
    map = twice;
  }
  return reg;
}

TEST(Crc32c, KnownVectors) {
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xE3069283U);
  EXPECT_EQ(crc32c(0, "", 0), 0U);
  EXPECT_EQ(crc32c(0, "a", 1), 0xC1D04330U);
  // RFC 3720, B.4.
  std::array<unsigned char, 32> bytes{};
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x8A9136AAU);
  bytes.fill(0xFF);
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x62A8AB43U);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x46DD794EU);
  std::iota(bytes.rbegin(), bytes.rend(), static_cast<unsigned char>(0));
  EXPECT_EQ(crc32c(0, bytes.data(), bytes.size()), 0x113FDB5CU);
}

TEST(Crc32c, EveryVariantEqualsIsal) {
  SCUTE_RANDOM(random);
  guarded_buffer buffer(crc32c_length_max);
  guarded_buffer other(crc32c_length_max);
  random.fill(buffer.at_begin(), crc32c_length_max);
  random.fill(other.at_begin(), crc32c_length_max);
  for (const crc32c_table* v : crc32c_variants()) {
    SCOPED_TRACE(v->name);
    for (size_t k = 0; k < 1500; ++k) {
      const size_t n = k < 600 ? k : random.length(crc32c_length_max);
      const bool end = random.between(0, 1) != 0;
      unsigned char* p = buffer.place(n, end);
      const uint32_t reg = random.word();
      const uint32_t expected = crc32_iscsi(p, static_cast<int>(n), reg);
      ASSERT_EQ(v->update(reg, p, n), expected) << n;

      unsigned char tail[crc32c_tail];
      random.fill(tail, sizeof tail);
      ASSERT_EQ(v->update_with_tail(reg, p, n, tail), crc32_iscsi(tail, sizeof tail, expected))
          << n;

      const unsigned char* q = other.place(n, !end);
      const uint32_t separate = crc32_iscsi(p, static_cast<int>(n), 0) ^
                                crc32_iscsi(const_cast<unsigned char*>(q), static_cast<int>(n), 0);
      ASSERT_EQ(v->linear_xor(p, q, n), separate) << n;
    }
  }
}

TEST(Crc32c, Chains) {
  SCUTE_RANDOM(random);
  const auto bytes = random.bytes(10000);
  const uint32_t whole = crc32c(0, bytes.data(), bytes.size());
  for (int k = 0; k < 300; ++k) {
    const size_t cut = random.length(bytes.size());
    ASSERT_EQ(crc32c(crc32c(0, bytes.data(), cut), bytes.data() + cut, bytes.size() - cut), whole);
  }
}

TEST(Crc32c, LinearIsLinear) {
  SCUTE_RANDOM(random);
  for (int k = 0; k < 300; ++k) {
    const size_t n = random.length(5000);
    const auto a = random.bytes(n);
    const auto b = random.bytes(n);
    auto sum = a;
    for (size_t i = 0; i < n; ++i) sum[i] ^= b[i];
    const uint32_t linear = crc32c_linear(sum.data(), n);
    ASSERT_EQ(linear, crc32c_linear(a.data(), n) ^ crc32c_linear(b.data(), n));
    ASSERT_EQ(linear, crc32c_linear_xor(a.data(), b.data(), n));
  }
  EXPECT_EQ(crc32c_linear("\0\0\0", 3), 0U);
}

TEST(Crc32c, ShiftAppendsZeroBytes) {
  SCUTE_RANDOM(random);
  const std::vector<unsigned char> zeros(9000);
  for (const crc32c_table* v : crc32c_variants()) {
    SCOPED_TRACE(v->name);
    uint32_t stepped = random.word() | 1;
    const uint32_t start = stepped;
    for (size_t n = 0; n < zeros.size(); ++n) {
      ASSERT_EQ(v->shift(start, n), stepped) << n;
      stepped = crc32_iscsi(const_cast<unsigned char*>(zeros.data()), 1, stepped);
    }
  }
}

TEST(Crc32c, ShiftByAnyCount) {
  SCUTE_RANDOM(random);
  std::vector<uint64_t> counts = {
      0,           127,        128,        16383,      16384,
      0x7FFFFFFE,  0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, uint64_t{1} << 40,
      ~uint64_t{0}};
  for (unsigned bits = 1; bits <= 64; ++bits) {
    for (int k = 0; k < 4; ++k) counts.push_back(random.between(0, ~uint64_t{0} >> (64 - bits)));
  }
  for (const crc32c_table* v : crc32c_variants()) {
    SCOPED_TRACE(v->name);
    for (const uint64_t n : counts) {
      const uint32_t reg = random.word();
      ASSERT_EQ(v->shift(reg, n), shift_reference(reg, n)) << n;
    }
  }
}

}  // namespace
}  // namespace scute::core::codec

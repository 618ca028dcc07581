// SPDX-License-Identifier: BSD-3-Clause
#include "codec/parity/parity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "codec/parity/parity_table.hpp"
#include "guarded_buffer.hpp"
#include "seeded.hpp"

namespace scute::core::codec {
namespace {

using test::guarded_buffer;
using test::random_source;

constexpr size_t parity_length_max = 5000;

std::vector<unsigned char> copy(const unsigned char* p, size_t n) {
  return {p, p + n};
}

// Sources and destination each against an end of their own guarded memory, some bytes away from it
// half of the time so that all alignments occur.
class Parity : public testing::TestWithParam<const parity_table*> {
 protected:
  struct ranges {
    size_t n;
    unsigned char* dst;
    unsigned char* a;
    unsigned char* b;
    unsigned char* c;
  };

  ranges random_ranges(random_source& random, size_t n) {
    ranges r{n, nullptr, nullptr, nullptr, nullptr};
    unsigned char** const pointers[] = {&r.dst, &r.a, &r.b, &r.c};
    for (size_t i = 0; i < 4; ++i) {
      const auto away = static_cast<size_t>(random.between(0, 1) * random.between(0, 70));
      const bool end = random.between(0, 1) != 0;
      *pointers[i] = end ? memory_[i].at_end(n + away) : memory_[i].at_begin() + away;
      random.fill(*pointers[i], n);
    }
    return r;
  }

  guarded_buffer memory_[4] = {
      guarded_buffer(parity_length_max + 100), guarded_buffer(parity_length_max + 100),
      guarded_buffer(parity_length_max + 100), guarded_buffer(parity_length_max + 100)};
};

size_t case_length(random_source& random, size_t k) {
  return k < 300 ? k : random.length(parity_length_max);
}

TEST_P(Parity, Xor2) {
  SCUTE_RANDOM(random);
  for (size_t k = 0; k < 500; ++k) {
    auto r = random_ranges(random, case_length(random, k));
    std::vector<unsigned char> expected(r.n);
    for (size_t i = 0; i < r.n; ++i) expected[i] = r.a[i] ^ r.b[i];
    const uint64_t alias = random.between(0, 3);
    unsigned char* dst = alias == 0 ? r.a : alias == 1 ? r.b : r.dst;
    GetParam()->xor2(dst, r.a, r.b, r.n);
    ASSERT_EQ(copy(dst, r.n), expected) << r.n;
    ASSERT_TRUE(memory_[0].intact_outside(r.dst, r.n) && memory_[1].intact_outside(r.a, r.n) &&
                memory_[2].intact_outside(r.b, r.n) && memory_[3].intact_outside(r.c, r.n));
  }
}

TEST_P(Parity, Xor3) {
  SCUTE_RANDOM(random);
  for (size_t k = 0; k < 500; ++k) {
    auto r = random_ranges(random, case_length(random, k));
    std::vector<unsigned char> expected(r.n);
    for (size_t i = 0; i < r.n; ++i) expected[i] = r.a[i] ^ r.b[i] ^ r.c[i];
    const uint64_t alias = random.between(0, 4);
    unsigned char* dst = alias == 0 ? r.a : alias == 1 ? r.b : alias == 2 ? r.c : r.dst;
    GetParam()->xor3(dst, r.a, r.b, r.c, r.n);
    ASSERT_EQ(copy(dst, r.n), expected) << r.n;
    ASSERT_TRUE(memory_[0].intact_outside(r.dst, r.n) && memory_[1].intact_outside(r.a, r.n) &&
                memory_[2].intact_outside(r.b, r.n) && memory_[3].intact_outside(r.c, r.n));
  }
}

TEST_P(Parity, IsZero) {
  SCUTE_RANDOM(random);
  for (size_t k = 0; k < 800; ++k) {
    const size_t n = k < 300 ? k : random.length(parity_length_max);
    unsigned char* p = memory_[0].place(n, random.between(0, 1) != 0);
    std::fill_n(p, n, static_cast<unsigned char>(0));
    ASSERT_TRUE(GetParam()->is_zero(p, n)) << n;
    for (int i = 0; n != 0 && i < 4; ++i) {
      const size_t places[] = {0, n - 1, static_cast<size_t>(random.between(0, n - 1)), n / 2};
      unsigned char& byte = p[places[i]];
      byte = static_cast<unsigned char>(1U << random.between(0, 7));
      ASSERT_FALSE(GetParam()->is_zero(p, n)) << n << " " << places[i];
      byte = 0;
    }
    std::fill_n(p, n, static_cast<unsigned char>(0xA5));
  }
}

// 1..110 rows; then each of a few rows is lost and rebuilt from the others and the parity.
TEST_P(Parity, GatherRebuildsALostRow) {
  SCUTE_RANDOM(random);
  for (size_t count = 1; count <= 110; ++count) {
    const size_t n = random.length(count % 10 == 0 ? 5000 : 700) + 1;
    const size_t stride = n + static_cast<size_t>(random.between(0, 100));
    const size_t size = stride * (count - 1) + n;
    guarded_buffer memory(size);
    unsigned char* base = memory.at_end(size);
    random.fill(base, size);
    std::vector<const void*> rows;
    std::vector<unsigned char> expected(n);
    for (size_t r = 0; r < count; ++r) {
      rows.push_back(base + r * stride);
      for (size_t i = 0; i < n; ++i) expected[i] ^= base[r * stride + i];
    }
    unsigned char* parity = memory_[0].place(n, random.between(0, 1) != 0);
    GetParam()->gather(parity, rows.data(), count, n);
    ASSERT_EQ(copy(parity, n), expected) << count << " rows of " << n;

    const auto lost = static_cast<size_t>(random.between(0, count - 1));
    unsigned char* lost_row = base + lost * stride;
    const auto original = copy(lost_row, n);
    random.fill(lost_row, n);
    rows[lost] = parity;
    unsigned char* rebuilt = random.between(0, 1) != 0 ? lost_row : parity;
    GetParam()->gather(rebuilt, rows.data(), count, n);
    ASSERT_EQ(copy(rebuilt, n), original) << count << " rows of " << n;
    ASSERT_TRUE(memory_[0].intact_outside(parity, n));
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Parity, testing::ValuesIn(parity_variants()),
                         [](const auto& instance) { return std::string(instance.param->name); });

TEST(ParityInterface, WordsForTheKernels) {
  SCUTE_RANDOM(random);
  for (int k = 0; k < 100; ++k) {
    const size_t n = random.length(3000);
    const auto old_bytes = random.bytes(n);
    const auto new_bytes = random.bytes(n);
    const auto parity = random.bytes(n);
    std::vector<unsigned char> delta(n);
    xor_delta(delta.data(), old_bytes.data(), new_bytes.data(), n);

    auto by_delta = parity;
    xor_into(by_delta.data(), delta.data(), n);
    auto by_encode = parity;
    xor_encode(by_encode.data(), by_encode.data(), old_bytes.data(), new_bytes.data(), n);
    std::vector<unsigned char> by_gather(n);
    const void* const rows[] = {new_bytes.data(), parity.data(), old_bytes.data()};
    xor_gather(by_gather.data(), rows, 3, n);
    ASSERT_EQ(by_delta, by_encode);
    ASSERT_EQ(by_delta, by_gather);

    xor_into(by_delta.data(), by_encode.data(), n);
    ASSERT_TRUE(is_zero(by_delta.data(), n));
  }
}

TEST(ParityInterface, GatherOfNothing) {
  unsigned char bytes[] = {1, 2, 3};
  xor_gather(bytes, nullptr, 0, 2);
  EXPECT_EQ(bytes[0] | bytes[1], 0);
  EXPECT_EQ(bytes[2], 3);
  xor_gather(nullptr, nullptr, 0, 0);
}

}  // namespace
}  // namespace scute::core::codec

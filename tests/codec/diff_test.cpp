// SPDX-License-Identifier: BSD-3-Clause
#include "codec/diff/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "codec/diff/diff_table.hpp"
#include "guarded_buffer.hpp"
#include "seeded.hpp"

namespace scute::core::codec {

static bool operator==(const diff_range& a, const diff_range& b) {
  return a.begin == b.begin && a.end == b.end;
}
static void PrintTo(const diff_range& r, std::ostream* out) {
  *out << "[" << r.begin << ", " << r.end << ")";
}

namespace {

using test::guarded_buffer;

// The contract of diff.hpp, word by word.
std::vector<diff_range> naive(const unsigned char* a, const unsigned char* b, size_t n, size_t from,
                              size_t gap) {
  std::vector<diff_range> out;
  for (size_t begin = from; begin < n;) {
    const size_t end = std::min(n, begin / 8 * 8 + 8);
    if (!std::equal(a + begin, a + end, b + begin)) {
      if (!out.empty() && (begin == out.back().end || begin - out.back().end < gap)) {
        out.back().end = end;
      } else {
        out.push_back({begin, end});
      }
    }
    begin = end;
  }
  return out;
}

class Diff : public ::testing::TestWithParam<const diff_table*> {
 protected:
  std::vector<diff_range> all(const unsigned char* a, const unsigned char* b, size_t n, size_t from,
                              size_t gap) {
    std::vector<diff_range> out;
    diff_range r{from, from};
    while (next_diff_with(*GetParam(), a, b, n, r.end, gap, r.begin, r.end)) out.push_back(r);
    return out;
  }
};

TEST_P(Diff, EqualsTheNaiveOne) {
  SCUTE_RANDOM(random);
  constexpr size_t length_max = 6000;
  guarded_buffer first(length_max);
  guarded_buffer second(length_max);
  for (size_t k = 0; k < 2500; ++k) {
    const size_t n = k < 600 ? k : random.length(length_max);
    unsigned char* a = first.place(n, random.between(0, 1) != 0);
    unsigned char* b = second.place(n, random.between(0, 1) != 0);
    random.fill(a, n);
    std::memcpy(b, a, n);
    // From untouched to mostly changed, in single bytes and in stretches.
    const uint64_t changes = random.between(0, 1) * random.between(0, n >> random.between(0, 7));
    for (uint64_t i = 0; n != 0 && i < changes; ++i) {
      const auto at = static_cast<size_t>(random.between(0, n - 1));
      const size_t stretch = std::min<size_t>(n - at, random.length(64) + 1);
      for (size_t j = at; j < at + stretch; ++j) b[j] ^= static_cast<unsigned char>(j | 1);
    }
    const size_t from = random.between(0, 2) == 0 ? random.length(n + 10) : 0;
    const size_t gap = random.length(random.between(0, 4) == 0 ? 4096 : 100);
    ASSERT_EQ(all(a, b, n, from, gap), naive(a, b, n, from, gap))
        << "n " << n << ", from " << from << ", gap " << gap;
  }
}

TEST_P(Diff, EverySingleByteIsSeen) {
  std::vector<unsigned char> a(1100);
  auto b = a;
  for (size_t i = 0; i < a.size(); ++i) {
    b[i] = 1;
    const std::vector<diff_range> expected = {{i / 8 * 8, std::min(i / 8 * 8 + 8, a.size())}};
    ASSERT_EQ(all(a.data(), b.data(), a.size(), 0, 64), expected);
    b[i] = 0;
  }
}

// A gap that straddles the 64 words which a kernel compares at once, just too short and just long
// enough.
TEST_P(Diff, GapAcrossBlocks) {
  std::vector<unsigned char> a(4096);
  for (size_t left = 480; left <= 544; left += 8) {
    for (const size_t gap : {8, 24, 64, 512, 1024, 1600}) {
      auto b = a;
      b[left] = 1;
      b[left + 8 + gap] = 1;
      ASSERT_EQ(all(a.data(), b.data(), a.size(), 0, gap).size(), 2U) << left << " " << gap;
      ASSERT_EQ(all(a.data(), b.data(), a.size(), 0, gap + 1).size(), 1U) << left << " " << gap;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Diff, ::testing::ValuesIn(diff_variants()),
                         [](const auto& instance) {
                           std::string name = instance.param->name;
                           std::erase(name, '.');
                           return name;
                         });

TEST(DiffInterface, FindsNothingPastTheEnd) {
  const unsigned char a[] = {1, 2, 3};
  const unsigned char b[] = {1, 2, 4};
  diff_range r{77, 78};
  EXPECT_FALSE(next_diff(a, b, 3, 3, 0, r));
  EXPECT_FALSE(next_diff(a, b, 3, 100, 0, r));
  EXPECT_FALSE(next_diff(a, b, 0, 0, 0, r));
  EXPECT_FALSE(next_diff(a, b, 2, 0, 0, r));
  EXPECT_EQ(r, (diff_range{77, 78}));
  EXPECT_TRUE(next_diff(a, b, 3, 1, ~size_t{0}, r));
  EXPECT_EQ(r, (diff_range{1, 3}));
}

}  // namespace
}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
// Sets of ranges against sets of bytes: whatever is added, both say the same.
#include "core/tx/range_set.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <stdexcept>

#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint64_t bytes = 48;
using model = std::bitset<bytes>;

model of(uint64_t begin, uint64_t end) {
  model m;
  for (uint64_t i = begin; i < end; ++i) m.set(i);
  return m;
}

void expect_same(const tx::range_set& s, const model& m) {
  model in_ranges;
  uint64_t behind = 0;
  for (const tx::byte_range& r : s) {
    EXPECT_LT(r.begin, r.end);
    EXPECT_TRUE(s.begin()->begin == r.begin || r.begin > behind)
        << "ranges touch or are disordered";
    behind = r.end;
    in_ranges |= of(r.begin, r.end);
  }
  EXPECT_EQ(m, in_ranges);
  EXPECT_EQ(m.none(), s.empty());
  for (uint64_t b = 0; b < bytes; ++b)
    for (uint64_t e = b + 1; e <= bytes; ++e) {
      const model asked = of(b, e);
      ASSERT_EQ((m & asked) == asked, s.contains(b, e)) << b << " to " << e;
      ASSERT_EQ((m & asked).any(), s.overlaps(b, e)) << b << " to " << e;
    }
}

TEST(range_set, SaysWhatASetOfBytesSays) {
  SCUTE_RANDOM(random);
  tx::range_set s;
  for (int round = 0; round < 400; ++round) {
    model m;
    s.clear();
    expect_same(s, m);
    const uint64_t longest = random.between(1, 12);
    for (uint64_t n = random.between(0, 7); n != 0; --n) {
      const uint64_t begin = random.between(0, bytes - 1);
      const uint64_t end = std::min(bytes, begin + random.between(1, longest));
      model fresh;
      uint64_t at = 0;
      s.add(begin, end, [&](uint64_t from, uint64_t to) {
        EXPECT_TRUE(from < to && from >= at) << "parts come in order";
        at = to;
        fresh |= of(from, to);
      });
      EXPECT_EQ(of(begin, end) & ~m, fresh);
      m |= of(begin, end);
      expect_same(s, m);
      if (random.one_in(4)) s = tx::range_set(s);
      if (HasFailure()) return;
    }
  }
}

TEST(range_set, IsAsItWasIfAPartIsNotToBeHad) {
  const auto refuse = [](uint64_t, uint64_t) { throw std::runtime_error("no"); };
  const auto accept = [](uint64_t, uint64_t) {};
  tx::range_set s;
  model m;
  for (const uint64_t begin : {16, 4, 30}) {
    EXPECT_THROW(s.add(begin, begin + 8, refuse), std::runtime_error);
    expect_same(s, m);
    EXPECT_THROW(s.add(0, bytes, refuse), std::runtime_error);
    expect_same(s, m);
    s.add(begin, begin + 8, accept);
    m |= of(begin, begin + 8);
    expect_same(s, m);
    s.add(begin + 1, begin + 7, refuse);  // asks for nothing
  }
}

}  // namespace
}  // namespace scute::test

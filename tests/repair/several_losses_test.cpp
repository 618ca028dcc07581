// SPDX-License-Identifier: BSD-3-Clause
// Pools with several rows of parity lose as many pages, or have as many cells injured, of one
// column, data or parity; and one more.
#include <gtest/gtest.h>

#include <bit>

#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint32_t rows = 6;

// Objects of half a page that fill some columns of all rows.
class several_losses : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, GetParam()});
    o.rows = rows;
    f.create(o);
    while (f.offset_of(f.add(2000)) < at(rows - 1) + page) {
    }
    SCUTE_OKAY(scute_drain(f));
  }
  uint32_t cells() const { return rows + GetParam(); }
  // The page of a column block in a row, or in a parity.
  uint64_t at(uint64_t row) const {
    const auto& g = f.in().s.geo;
    return g.zone_offset(0) + row * g.row_size + 20 * page;
  }
  void injure(scute_injury kind, uint64_t offset, uint64_t length = 0) {
    scute_injection what;
    scute_injection_init(&what);
    what.kind = kind;
    what.offset = offset;
    if (length != 0) what.length = length;
    SCUTE_OKAY(scute_inject(f, &what, nullptr, nullptr, nullptr));
  }
  // Calls fn with every set of that many cells.
  template <typename Fn>
  void for_each_set(uint32_t count, Fn&& fn) {
    for (uint32_t set = 1; set < uint32_t{1} << cells() && !HasFailure(); ++set)
      if (std::popcount(set) == static_cast<int>(count)) fn(set);
  }
  known_pool f;
};

TEST_P(several_losses, PagesComeBackWhenObjectsAreRead) {
  for_each_set(GetParam(), [&](uint32_t set) {
    for (uint32_t row = 0; row < cells(); ++row)
      if ((set >> row & 1) != 0) injure(SCUTE_INJURE_LOSE_PAGE, at(row));
    f.expect_objects();
    scute_report r{};
    r.struct_size = sizeof r;
    SCUTE_OKAY(scute_scrub(f, nullptr, &r));  // the parities among them
    EXPECT_EQ(r.lost, 0u) << set;
    f.expect_sound();
  });
}

TEST_P(several_losses, PagesLostAfterACrash) {
  uint32_t k = 0;
  for_each_set(GetParam(), [&](uint32_t set) {
    if (++k % 5 != 0) return;
    for (uint32_t row = 0; row < cells(); ++row)
      if ((set >> row & 1) != 0) injure(SCUTE_INJURE_LOSE_PAGE, at(row));
    f.in().abandon();
    SCUTE_OKAY(scute_close(f.pool));
    f.pool = nullptr;
    f.open();
    f.expect_all_repaired();
  });
}

// DECODE-1.
TEST_P(several_losses, InjuredCellsAreRepaired) {
  for_each_set(GetParam(), [&](uint32_t set) {
    for (uint32_t row = 0; row < cells(); ++row)
      if ((set >> row & 1) != 0) injure(SCUTE_INJURE_SCRIBBLE, at(row) + 900, 700);
    f.expect_objects();
    scute_report r{};
    r.struct_size = sizeof r;
    SCUTE_OKAY(scute_scrub(f, nullptr, &r));
    EXPECT_EQ(r.lost, 0u) << set;
    f.expect_sound();
  });
}

TEST_P(several_losses, OneMoreIsReportedAndNamed) {
  for (uint32_t row = 0; row <= GetParam(); ++row) injure(SCUTE_INJURE_LOSE_PAGE, at(row));
  uint64_t lost = 0;
  for (const auto& [oid, content] : f.objects) {
    const void* p = nullptr;
    const int e = scute_get_verified(f, oid, &p);
    if (e == SCUTE_OK) {
      EXPECT_EQ(0, std::memcmp(p, content.data(), content.size()));
      continue;
    }
    EXPECT_EQ(e, SCUTE_E_CORRUPT);
    ++lost;
  }
  EXPECT_GE(lost, GetParam() + 1);
  EXPECT_GE(f.in().s.lost.load(), uint64_t{GetParam()} + 1);
}

INSTANTIATE_TEST_SUITE_P(Parities, several_losses, testing::Values(2, 3, 4));

}  // namespace
}  // namespace scute::test

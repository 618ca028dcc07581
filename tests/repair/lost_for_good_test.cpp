// SPDX-License-Identifier: BSD-3-Clause
// Pages that are lost beyond repair: more in one column than there are parities.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lossy_pool.hpp"

namespace scute::test {
using namespace core;
namespace {

TEST(lost_for_good, TwoInOneColumnAreReportedByName) {
  lossy_pool f;
  f.create(mib);
  f.fill();
  f.add(70000);
  const auto& g = f.geo();
  // Two pages of one column, in rows that hold objects.
  std::map<uint64_t, std::vector<scute_oid>> by_page;
  for (const auto& [oid, content] : f.objects)
    by_page[f.offset_of(oid) & ~(page - 1)].push_back(oid);
  uint64_t first = 0, second = 0;
  for (const auto& [a, unused] : by_page)
    for (const auto& [b, unused2] : by_page)
      if (a < b && (b - a) % g.row_size == 0) first = a, second = b;
  ASSERT_NE(first, 0u);
  f.lose(first);
  f.lose(second);
  uint64_t refused = 0;
  for (const auto& [oid, content] : f.objects) {
    const void* at = nullptr;
    const int e = scute_get_verified(f, oid, &at);
    if (e == SCUTE_OK) {
      EXPECT_EQ(std::memcmp(at, content.data(), content.size()), 0);
      continue;
    }
    EXPECT_EQ(e, SCUTE_E_CORRUPT) << scute_errormsg();
    ++refused;
  }
  EXPECT_GE(refused, 2u);
  EXPECT_GE(f.info().lost, 2u);
  std::set<scute_oid> named;
  SCUTE_OKAY(scute_events(
      f,
      [](void* to, const scute_event* e) {
        if (e->outcome == SCUTE_OUTCOME_LOST)
          static_cast<std::set<scute_oid>*>(to)->insert(e->object);
      },
      &named));
  EXPECT_GE(named.size(), 1u);
  // The rest of the pool stays usable.
  const scute_oid fresh = f.alloc(pattern(5, 100));
  EXPECT_TRUE(f.read(fresh) == pattern(5, 100));
}

// If two of three lost pages are written off, the third must not look as if the rest of the
// column gave its bytes. (PAGE-6)
TEST(lost_for_good, ThreeInOneColumnAreAllLost) {
  lossy_pool f;
  f.create(mib);
  f.fill();
  f.add(70000);
  const auto& g = f.geo();
  std::map<uint64_t, std::set<uint64_t>> rows;  // with objects, by page column
  for (const auto& [oid, content] : f.objects)
    for (uint64_t at = f.offset_of(oid) & ~(page - 1); at < f.offset_of(oid) + content.size();
         at += page)
      rows[(at - g.zones_offset) % g.row_size].insert(at);
  const auto column =
      std::find_if(rows.begin(), rows.end(), [](const auto& c) { return c.second.size() >= 3; });
  ASSERT_NE(column, rows.end());
  for (const uint64_t at : column->second) f.lose(at);
  for (const auto& [oid, content] : f.objects) {
    const void* at = nullptr;
    if (scute_get_verified(f, oid, &at) == SCUTE_OK) {
      EXPECT_EQ(std::memcmp(at, content.data(), content.size()), 0);
    }
  }
  EXPECT_EQ(f.repaired_pages(), 0u);
  EXPECT_TRUE(f.in().pages->notes.pages().empty());
}

// PAGE-4: a column loses one page more than there are parities, while a transaction has stored
// to one of these pages in place. The stored bytes are gone, so the transaction is refused. No
// caller receives the bytes that fill the page.
class in_place
    : public testing::TestWithParam<std::tuple<scute_engine, unsigned, scute_protection>> {
 protected:
  void SetUp() override {
    const auto [engine, parities, level] = GetParam();
    scute_options o = options(4 * mib, {level, engine, parities});
    o.rows = 6;
    f.create(o);
    for (const size_t n : {64, 3000, 20'000}) oids.emplace_back(f.alloc(pattern(n, n)), n / 2);
    beside = f.alloc(pattern(5, 100));
    SCUTE_OKAY(scute_drain(f));
  }
  // The page and all parity of its column.
  void lose_column(uint64_t at) {
    const pool::cell c = pool::cell_of(f.geo(), at);
    f.lose(at);
    for (uint32_t k = 0; k < f.geo().parity; ++k)
      f.lose(f.geo().zone_offset(c.zone) + f.geo().data_size + k * f.geo().row_size + c.column);
  }
  lossy_pool f;
  std::vector<std::pair<scute_oid, uint64_t>> oids;  // and where they are stored to
  scute_oid beside = 0;
};

TEST_P(in_place, StoresInAPageBeyondRepairAreRefused) {
  for (const auto& [oid, middle] : oids) {
    {
      transaction tx(f);
      void *to = nullptr, *other = nullptr;
      SCUTE_OKAY(scute_tx_inplace(tx, beside, 0, 100, &other));
      SCUTE_OKAY(scute_tx_inplace(tx, oid, middle, 32, &to));
      std::memset(other, 0xaa, 100);
      std::memset(to, 0xee, 32);
      lose_column(static_cast<uint64_t>(static_cast<std::byte*>(to) - f.raw(0)) & ~(page - 1));
      SCUTE_FAILS(SCUTE_E_CORRUPT, tx.commit());
    }
    const void* at = nullptr;
    if (f.in().s.has_checksums) {
      EXPECT_EQ(scute_get_verified(f, oid, &at), SCUTE_E_CORRUPT);
    }
    // Of small objects the other one may lie in the same page.
    if (scute_get_verified(f, beside, &at) == SCUTE_OK) {
      EXPECT_EQ(std::memcmp(at, pattern(5, 100).data(), 100), 0);
    } else {
      beside = f.alloc(pattern(5, 100));
    }
  }
  EXPECT_GE(f.info().lost, 3u);
}

std::string name_of(const testing::TestParamInfo<in_place::ParamType>& one) {
  const auto [engine, parities, level] = one.param;
  return std::string(engine == SCUTE_ENGINE_SPEC   ? "spec"
                     : engine == SCUTE_ENGINE_REDO ? "redo"
                                                   : "logfree") +
         "_" + std::to_string(parities) + (level == SCUTE_PROTECT_MLPC ? "_mlpc" : "_mlp");
}

INSTANTIATE_TEST_SUITE_P(engines, in_place,
                         testing::Values(std::tuple{SCUTE_ENGINE_LOGFREE, 1u, SCUTE_PROTECT_MLPC},
                                         std::tuple{SCUTE_ENGINE_LOGFREE, 2u, SCUTE_PROTECT_MLPC},
                                         std::tuple{SCUTE_ENGINE_REDO, 1u, SCUTE_PROTECT_MLPC},
                                         std::tuple{SCUTE_ENGINE_SPEC, 1u, SCUTE_PROTECT_MLPC},
                                         std::tuple{SCUTE_ENGINE_SPEC, 2u, SCUTE_PROTECT_MLPC},
                                         std::tuple{SCUTE_ENGINE_REDO, 1u, SCUTE_PROTECT_MLP},
                                         std::tuple{SCUTE_ENGINE_SPEC, 1u, SCUTE_PROTECT_MLP}),
                         name_of);

}  // namespace
}  // namespace scute::test

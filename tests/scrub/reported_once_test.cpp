// SPDX-License-Identifier: BSD-3-Clause
// Damage that can be repaired only after other damage next to it, and damage that is found in
// several ways. No loss is reported where there is none (REPAIR-7), and no loss twice. An
// enumeration that has passed over something says so (ENUM-3).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint64_t small_size = 200, run = 24;

class reported_once : public testing::TestWithParam<uint64_t> {
 protected:
  uint64_t size() const { return GetParam(); }
  // A large object, and small ones in the columns of its first page, all in one other row.
  void SetUp() override {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
    o.rows = 4;
    f.create(o);
    f.in().idle.stop();
    object = f.alloc(pattern(1, size()), 7);
    const pool::geometry& g = f.in().s.geo;
    const pool::cell own = pool::cell_of(g, f.offset_of(object));
    uint64_t row = ~uint64_t{0};
    for (;; ++all) {
      const scute_oid oid = f.alloc(pattern(2 + all, small_size), 1);
      if (oid == 0) break;
      const pool::cell c = pool::cell_of(g, f.offset_of(oid));
      if (c.zone != own.zone || c.row == own.row || c.column < own.column ||
          c.column + small_size > own.column + std::min(size(), uint64_t{4096}) ||
          (row != ~uint64_t{0} && row != c.row))
        continue;
      row = c.row;
      beside.push_back(oid);
      relative.push_back(c.column - own.column);
    }
    ASSERT_GT(beside.size(), 10u);
    head = f.in().heap->zones().locate(f.offset_of(object)).header;
    f.close();
  }
  void noise(uint64_t offset, size_t n) {
    bytes b = read_at(f.path, offset, n);
    const bytes by = pattern(offset, n);
    for (size_t i = 0; i < n; ++i) b[i] ^= static_cast<unsigned char>(by[i] | 1);
    write_at(f.path, offset, b.data(), n);
  }
  // The object can be repaired when all of these are.
  void damage_in_turns() {
    for (size_t i = 0; i < beside.size(); ++i) {
      noise(f.offset_of(object) + relative[i] + 10, run);
      noise(f.offset_of(beside[i]) + 110, run);
    }
    noise(head, format::header_size);
  }
  uint64_t losses_reported() {
    uint64_t n = 0;
    const auto count = [](void* arg, const scute_event* e) {
      *static_cast<uint64_t*>(arg) += e->outcome == SCUTE_OUTCOME_LOST ? e->count : 0;
    };
    SCUTE_OKAY_E(scute_events(f.pool, count, &n));
    return n;
  }
  struct walk {
    uint64_t objects = 0;
    bool found = false;
    int end = SCUTE_OK;
  };
  template <typename Between>
  walk enumerate(Between&& between) {
    walk w;
    scute_oid oid = 0;
    for (w.end = scute_first(f, SCUTE_TYPE_ANY, &oid); w.end == SCUTE_OK && oid != 0;
         w.end = scute_next(f, oid, SCUTE_TYPE_ANY, &oid)) {
      w.found = w.found || oid == object;
      if (++w.objects == all / 2 + 1) between();
    }
    return w;
  }
  walk enumerate() {
    return enumerate([] {});
  }

  pool_file f;
  scute_oid object = 0;
  uint64_t head = 0, all = 0;  // without the object
  std::vector<scute_oid> beside;
  std::vector<uint64_t> relative;
};

TEST_P(reported_once, EnumerationSkipsAnObjectThatIsRepairedLater) {
  damage_in_turns();
  f.open();
  const walk first = enumerate([&] {
    for (const scute_oid oid : beside) f.read(oid);
    EXPECT_TRUE(f.read(object) == pattern(1, size())) << scute_errormsg();
    // Another enumeration, of what the object is not: no concern of this one.
    scute_oid oid = 0;
    int e = scute_first(f, 1, &oid);
    while (e == SCUTE_OK && oid != 0) e = scute_next(f, oid, 1, &oid);
    EXPECT_EQ(e, SCUTE_OK) << scute_errormsg();
  });
  if (!first.found) {
    EXPECT_EQ(first.end, SCUTE_E_CORRUPT);
    EXPECT_NE(std::string(scute_errormsg()).find("again"), std::string::npos);
  }
  EXPECT_EQ(first.objects, all + (first.found ? 1 : 0));
  const walk second = enumerate();
  EXPECT_EQ(second.end, SCUTE_OK) << scute_errormsg();
  EXPECT_EQ(second.objects, all + 1);
  EXPECT_EQ(losses_reported(), 0u);
  EXPECT_EQ(f.stats().losses, 0u);
}

TEST_P(reported_once, EnumerationTriesAgainAtItsEnd) {
  damage_in_turns();
  f.open();
  const walk first = enumerate();
  EXPECT_TRUE(first.found || first.end == SCUTE_E_CORRUPT);
  const walk second = enumerate();
  EXPECT_EQ(second.end, SCUTE_OK) << scute_errormsg();
  EXPECT_EQ(second.objects, all + 1);
  EXPECT_EQ(losses_reported(), 0u);
  EXPECT_EQ(f.stats().losses, 0u);
  EXPECT_TRUE(f.read(object) == pattern(1, size()));
}

TEST_P(reported_once, CheckThatOpensAZoneWithDamageThatItRepairs) {
  damage_in_turns();
  f.open();
  const scute_report r = f.check(true);
  EXPECT_EQ(r.complete, 1);
  EXPECT_EQ(r.lost, 0u);
  EXPECT_EQ(r.repaired, beside.size() + 1);
  EXPECT_EQ(losses_reported(), 0u);
  EXPECT_EQ(f.stats().losses, 0u);
  EXPECT_EQ(f.info().lost, 0u);
  EXPECT_TRUE(f.read(object) == pattern(1, size()));
}

TEST_P(reported_once, ScrubThatOpensAZoneWithDamageThatItRepairs) {
  damage_in_turns();
  f.open();
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_scrub(f, nullptr, &r));
  EXPECT_EQ(r.lost, 0u);
  EXPECT_EQ(losses_reported(), 0u);
  EXPECT_EQ(f.info().lost, 0u);
  EXPECT_TRUE(f.read(object) == pattern(1, size()));
}

// Beyond repair: the header, and the parity of its columns.
TEST_P(reported_once, LossIsOne) {
  f.open();
  const pool::cell c = pool::cell_of(f.in().s.geo, head);
  const uint64_t parity = pool::parity_offset(f.in().s.geo, c.zone, c.column);
  f.close();
  noise(head, format::header_size);
  noise(parity, format::header_size);
  f.open();
  EXPECT_EQ(f.check(true).lost, 1u);
  EXPECT_EQ(losses_reported(), 1u);
  EXPECT_EQ(f.info().lost, 1u);
}

// Damage to the object's first header, and to parity next to another of its fragments: two
// injuries.
TEST_P(reported_once, CheckFindsAHeadOnce) {
  if (size() < 2 * format::fragment_payload) return;
  f.open();
  const pool::cell c = pool::cell_of(f.in().s.geo, f.offset_of(object) + size() / 2);
  const uint64_t parity = pool::parity_offset(f.in().s.geo, c.zone, c.column);
  f.in().idle.stop();
  f.read(object);  // its zone is open
  f.raw(head + 8)[0] ^= std::byte{0x55};
  f.raw(head + 13)[0] ^= std::byte{0x11};
  f.raw(parity + 10)[0] ^= std::byte{0x3c};
  for (const bool repair : {false, true}) {
    std::vector<std::string> findings;
    f.check(repair, &findings);
    std::map<std::string, int> times;
    for (const auto& x : findings) EXPECT_EQ(++times[x], 1) << x;
    EXPECT_GE(findings.size(), 1u);
    EXPECT_LE(findings.size(), 2u);
  }
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Sizes, reported_once, testing::Values(4000, 200000),
                         [](const auto& p) { return std::to_string(p.param); });

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Scrubbing through the C++ interface.
#include "api/temp_pool.hpp"

#include <array>
#include <stdexcept>
#include <string_view>

namespace {

using checked_block = std::array<uint64_t, 4000>;

class scrub : public scute_test::pool_test {
 protected:
  void SetUp() override {
    make();
    for (auto& p : blocks)
      p = pool.transact([](scute::tx& tx) { return tx.make<checked_block>(); });
  }
  void damage(scute::ptr<checked_block> p) { const_cast<checked_block&>(pool.get(p))[5] ^= 1; }

  std::array<scute::ptr<checked_block>, 100> blocks;
};

TEST_F(scrub, ReportsDamageAndRepairs) {
  damage(blocks[3]);
  unsigned found = 0, zones = 0;
  bool progress = false;
  scute::scrub_options how;
  how.threads = 2;
  how.finding = [&](std::string_view what, uint64_t, uint64_t, scute_oid object, bool repaired) {
    found += what == "object" && object == blocks[3].oid() && repaired ? 1 : 0;
  };
  how.zone = [&](const scute::zone_report& z) { zones += z.repaired == 1 ? 1 : 0; };
  how.progress = [&](std::string_view, uint64_t, uint64_t) { progress = true; };
  const scute::report r = pool.scrub(how);
  EXPECT_EQ(r.repaired, 1u);
  EXPECT_EQ(r.complete, 1);
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(zones, 1u);
  EXPECT_TRUE(progress);
  EXPECT_EQ(pool.check().damaged, 0u);
}

TEST_F(scrub, WhatACallbackThrowsEndsItAndComesOut) {
  scute::scrub_options how;
  how.progress = [](std::string_view, uint64_t, uint64_t) { throw std::runtime_error("enough"); };
  EXPECT_THROW(pool.scrub(how), std::runtime_error);
  EXPECT_EQ(pool.scrub().complete, 1);
}

TEST_F(scrub, InTheBackgroundOneAtATime) {
  pool.start_scrub();
  EXPECT_EQ(pool.wait_for_scrub().complete, 1);
  pool.start_scrub({.rate = uint64_t{1} << 20});
  EXPECT_THROW(pool.scrub(), scute::error);
  pool.stop_scrub();
  EXPECT_EQ(pool.wait_for_scrub().complete, 0);
  EXPECT_THROW(pool.wait_for_scrub(), scute::error);
}

}  // namespace

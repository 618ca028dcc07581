// SPDX-License-Identifier: BSD-3-Clause
// The page of a header is lost while a repair of its fragment's payload is under way, at each
// moment that the repair can meet it: it is rebuilt, and the payload is repaired (INFLIGHT-3). On
// the planted core, whose threads can be stopped there (switch_point()).
#include <gtest/gtest.h>

#include "base/locks/waiting.hpp"
#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

class lost_header : public ::testing::TestWithParam<scute_engine> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib);
    o.engine = GetParam();
    o.protection = SCUTE_PROTECT_MLPC;
    o.rows = 4;
    f.create(o);
    f.in().idle.stop();
    for (const size_t n : {size_t{9000}, size_t{200000}}) {
      oids.push_back(f.alloc(pattern(n, n)));
      sizes.push_back(n);
    }
    f.in().drain();
  }
  void TearDown() override { this_thread_waits = {}; }

  // At the nth point from now on the page is lost.
  void lose_at(unsigned nth, uint64_t lost_page) {
    left = nth;
    at = lost_page;
    this_thread_waits.arg = this;
    this_thread_waits.pass = [](void* arg) {
      auto& t = *static_cast<lost_header*>(arg);
      if (--t.left != 0) return;
      this_thread_waits = {};
      const bytes noise = pattern(t.at, page);
      t.f.in().pages->lose(t.at, reinterpret_cast<const std::byte*>(noise.data()));
    };
  }

  known_pool f;
  std::vector<scute_oid> oids;
  std::vector<size_t> sizes;
  unsigned left = 0;
  uint64_t at = 0;
};

TEST_P(lost_header, IsRebuiltAndThePayloadIsRepaired) {
  const pool::geometry& g = f.in().s.geo;
  unsigned elsewhere = 0, lost = 0;
  for (size_t k = 0; k < oids.size(); ++k) {
    const heap::object o = f.in().heap->zones().locate(f.offset_of(oids[k]));
    const uint64_t last = (sizes[k] - 1) / format::fragment_payload;
    for (const uint64_t i : {uint64_t{0}, uint64_t{1}, last}) {
      const pool::fragment part = o.fragment(i);
      const uint64_t header_page = part.header / page * page;
      const auto column = [&](uint64_t offset) {
        return pool::cell_of(g, offset).column / pool::column_block;
      };
      if (column(part.header) == column(part.payload + 9)) continue;
      ++elsewhere;
      // Damage that only this repair is to repair, not the rebuilding of the header's page.
      ASSERT_NE(header_page, (part.payload + 9) / page * page);
      for (unsigned nth = 1;; ++nth) {
        ASSERT_LT(nth, 100u);
        f.raw(part.payload + 9)[0] ^= std::byte{0x5a};
        lose_at(nth, header_page);
        ASSERT_TRUE(f.read(oids[k]) == pattern(sizes[k], sizes[k]))
            << sizes[k] << ", part " << i << ", point " << nth << ": " << scute_errormsg();
        const bool over = this_thread_waits.pass != nullptr;
        this_thread_waits = {};
        EXPECT_EQ(f.info().lost, 0u);
        ASSERT_EQ(f.check(true).lost, 0u);
        if (over) break;
        ++lost;
      }
    }
  }
  EXPECT_GT(elsewhere, 0u);
  EXPECT_GT(lost, 0u);
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Engines, lost_header,
                         ::testing::Values(SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_REDO,
                                           SCUTE_ENGINE_SPEC));

}  // namespace
}  // namespace scute::test

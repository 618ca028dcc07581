// SPDX-License-Identifier: BSD-3-Clause
// A transaction that holds columns with an in-place range meets a lost page of a column that it
// does not hold. Another thread holds that one, and wants one of the transaction's: neither may
// wait for ever (RESERVE-2).
#include <gtest/gtest.h>

#include "support/pool_file.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

class lost_column : public testing::Test {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE});
    o.rows = 16;
    f.create(o);
    for (uint64_t i = 0; i < 40; ++i) objects.push_back(f.alloc(pattern(i, content_size)));
    held = objects.front();
    for (const scute_oid oid : objects)
      if (other == 0 && !share_columns(oid, held)) other = oid;
    ASSERT_NE(other, 0u);
    SCUTE_OKAY(scute_drain(f));
  }

  uint32_t stripe_of(scute_oid oid) const {
    const pool::cell c = pool::cell_of(f.in().s.geo, f.offset_of(oid));
    return pool::stripes::index(c.zone, c.column / pool::column_block);
  }
  bool share_columns(scute_oid a, scute_oid b) const {
    const uint64_t distance =
        stripe_of(a) > stripe_of(b) ? stripe_of(a) - stripe_of(b) : stripe_of(b) - stripe_of(a);
    return distance < 2;
  }
  // The page in the row above or below, where none of the objects lies.
  void lose_beside(scute_oid oid) const {
    const auto& g = f.in().s.geo;
    const uint64_t page = f.offset_of(oid) / 4096 * 4096;
    const uint64_t at =
        g.zone_offset(0) + (g.rows - 1) * g.row_size + pool::cell_of(g, page).column;
    const bytes noise = pattern(7, 4096);
    f.in().pages->lose(at, reinterpret_cast<const std::byte*>(noise.data()));
  }

  // Runs meets_loss in a thread of its own, which is to wait for the column of `other`. False if
  // the column of `held` is not to be had then.
  template <class Fn>
  bool can_be_had(Fn&& meets_loss) {
    auto& locks = f.in().s.locks;
    const uint32_t lane = f.in().s.geo.lane_count - 1;  // no transaction has it
    locks.lock_window(stripe_of(other), lane);
    std::atomic<bool> begins{false};
    waiting_thread owner([&] {
      meets_loss(begins);
      begins = true;
    });
    wait_until([&] { return begins.load(); });
    EXPECT_TRUE(owner.comes_to_wait());
    const bool got = becomes_true([&] {
      locks.ask(stripe_of(held));
      return locks.try_lock_window(stripe_of(held), lane);
    });
    if (got) locks.unlock_window(stripe_of(held), lane);
    locks.unlock_window(stripe_of(other), lane);
    owner.join();
    return got;
  }

  // A transaction with a range of `held` in place opens one of `other`, whose column has lost a
  // page.
  template <class Open>
  void expect_nobody_waits(Open&& open_other) {
    lose_beside(other);
    const bool had = can_be_had([&](std::atomic<bool>& begins) {
      transaction tx(f);
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_inplace(tx, held, 0, 100, &p));
      std::memset(p, 1, 100);
      SCUTE_OKAY(open_other(tx, begins, &p));
      std::memset(p, 2, 100);
      SCUTE_OKAY(tx.commit());
    });
    EXPECT_TRUE(had);
    EXPECT_EQ(f.info().pages_repaired, 1u);
    expect_stored();
  }
  void expect_stored() {
    EXPECT_EQ(f.read(held)[50], 1);
    EXPECT_EQ(f.read(other)[50], 2);
    f.expect_sound();
  }

  static constexpr size_t content_size = 3000;
  pool_file f;
  std::vector<scute_oid> objects;
  scute_oid held = 0, other = 0;
};

TEST_F(lost_column, MetByACommit) {
  expect_nobody_waits([&](scute_tx* tx, std::atomic<bool>& begins, void** p) {
    const int e = scute_tx_add_range(tx, other, 0, 100, p);
    begins = true;
    return e;
  });
}

TEST_F(lost_column, MetByAnotherInPlaceRange) {
  expect_nobody_waits([&](scute_tx* tx, std::atomic<bool>& begins, void** p) {
    begins = true;
    return scute_tx_inplace(tx, other, 0, 100, p);
  });
}

// Its own column: the page is rebuilt, and the stores that were there stay.
TEST_F(lost_column, OfItsOwn) {
  transaction tx(f);
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_inplace(tx, held, 0, 100, &p));
  std::memset(p, 1, 100);
  lose_beside(held);
  SCUTE_OKAY(scute_tx_add_range(tx, other, 0, 100, &p));
  std::memset(p, 2, 100);
  SCUTE_OKAY(tx.commit());
  expect_stored();
}

}  // namespace
}  // namespace scute::test

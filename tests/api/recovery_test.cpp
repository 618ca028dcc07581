// SPDX-License-Identifier: BSD-3-Clause
// A pool that a crash has left, through the C++ interface: references are right before recovery is
// over.
#include "api/crashed_pool.hpp"
#include "api/temp_pool.hpp"

namespace {

struct block {
  unsigned char bytes[400];
};

class recovering : public testing::Test {
 protected:
  void SetUp() override { f = scute_test::make_crashed_pool((folder / "crashed").string()); }
  bool is(const scute::pool& pool, size_t i) const {
    const auto& b = pool.get(scute::ptr<block>(f.oids[i]));
    return std::equal(f.contents[i].begin(), f.contents[i].end(), b.bytes);
  }

  scute_test::temp_folder folder;
  scute_test::crashed_pool f;
};

TEST_F(recovering, references_are_of_decided_transactions) {
  const auto pool = scute::pool::open(f.path, {.lazy_recovery = true});
  EXPECT_GT(pool.info().unresolved, 0U);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(is(pool, i)) << i;
  EXPECT_EQ(pool.info().rolled_back, 1U);
  EXPECT_GT(pool.info().unresolved, 0U);
}

TEST_F(recovering, transactions_need_not_wait) {
  auto pool = scute::pool::open(f.path, {.lazy_recovery = true});
  pool.transact([&](scute::tx& tx) {
    block& b = tx.open(scute::ptr<block>(f.oids[0]));
    EXPECT_TRUE(std::equal(f.contents[0].begin(), f.contents[0].end(), b.bytes));
    b.bytes[5] = 77;
  });
  f.contents[0][5] = 77;
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(is(pool, i)) << i;
  pool.wait_for_recovery();
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(is(pool, i)) << i;
  EXPECT_EQ(pool.check().damaged, 0U);
}

TEST_F(recovering, waiting) {
  auto pool = scute::pool::open(f.path, {.lazy_recovery = true});
  uint64_t last = 0, total = 0, calls = 0;
  pool.wait_for_recovery([&](std::string_view what, uint64_t done, uint64_t of) {
    EXPECT_EQ(what, "recover");
    EXPECT_GE(done, last);
    last = done;
    total = of;
    ++calls;
  });
  EXPECT_GT(calls, 1U);
  EXPECT_EQ(last, total);
  EXPECT_EQ(pool.info().unresolved, 0U);
  pool.drain();
  EXPECT_ERRC(invalid, pool.transact([&](scute::tx&) { pool.wait_for_recovery(); }));
}

TEST_F(recovering, what_the_callback_throws_is_rethrown_at_the_end) {
  auto pool = scute::pool::open(f.path, {.lazy_recovery = true});
  int calls = 0;
  const auto complain = [&](auto...) {
    ++calls;
    throw std::string("enough");
  };
  EXPECT_THROW(pool.wait_for_recovery(complain), std::string);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(pool.info().unresolved, 0U);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(is(pool, i)) << i;
}

}  // namespace

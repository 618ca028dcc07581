// SPDX-License-Identifier: BSD-3-Clause
// The costs of allocations on a disk. Chunks come into use, become runs and get further slots with
// the transaction that needs them (PEND-1). So a transaction waits for one sync, whatever it
// allocates.
#include <functional>

#include "session/log_file.hpp"

namespace scute::test {
namespace {

scute_options roomy(scute_protection p, uint32_t parity) {
  scute_options o = on_disk(p);
  o.size = 64 * mib;
  o.parity = parity;
  return o;
}

// Syncs that the threads' transactions have waited for, and how many transactions.
struct waited {
  uint64_t syncs = 0, transactions = 0, allocs = 0;
};
waited waited_in(scute_pool* pool, uint32_t lanes) {
  waited all;
  for (uint32_t i = 0; i < lanes; ++i) {
    scute_counters c{};
    c.struct_size = sizeof c;
    EXPECT_EQ(SCUTE_OK, scute_stats_lane(pool, i, &c));
    all.syncs += c.fences;
    all.transactions += c.transactions;
    all.allocs += c.allocs;
  }
  return all;
}

scute_counters counters(scute_pool* pool) {
  scute_counters c{};
  c.struct_size = sizeof c;
  EXPECT_EQ(SCUTE_OK, scute_stats(pool, &c));
  return c;
}

scute_info info(scute_pool* pool) {
  scute_info i{};
  i.struct_size = sizeof i;
  EXPECT_EQ(SCUTE_OK, scute_pool_info(pool, &i));
  return i;
}

scute_oid alloc_in(scute_tx* tx, uint64_t size, unsigned fill) {
  scute_oid oid = 0;
  void* bytes = nullptr;
  EXPECT_EQ(SCUTE_OK, scute_tx_alloc(tx, size, 7, &oid, &bytes)) << scute_errormsg();
  const auto content = pattern(fill, size);
  std::memcpy(bytes, content.data(), size);
  return oid;
}

struct made {
  scute_oid oid;
  uint64_t size;
  unsigned fill;
};
void expect_all(pool_file& f, const std::vector<made>& all) {
  for (const made& m : all) ASSERT_EQ(f.read(m.oid), pattern(m.fill, m.size)) << m.fill;
}

class alloc_on_disk
    : public testing::TestWithParam<std::pair<scute_protection, uint32_t /*parity*/>> {};

// PEND-1, PEND-2
TEST_P(alloc_on_disk, OneSyncForATransactionWhateverItAllocates) {
  const auto [protection, parity] = GetParam();
  const scute_options o = roomy(protection, parity);
  disk_pool f(o);
  std::vector<made> all;
  const waited before = waited_in(f.pool, o.lanes);
  unsigned fill = 0;
  // In turns of 1, 16 and 200 objects, of all classes up to a chunk's half, and of one class.
  for (unsigned round = 0; round < 60; ++round)
    for (const unsigned objects : {1U, 16U, round % 10 == 0 ? 200U : 1U}) {
      scute_tx* tx = nullptr;
      SCUTE_OKAY(scute_tx_begin(f.pool, &tx));
      for (unsigned k = 0; k < objects; ++k, ++fill) {
        const uint64_t size = k % 2 == 0 ? 90 : 30 + fill * 37 % 3000;
        all.push_back({alloc_in(tx, size, fill), size, fill});
      }
      SCUTE_OKAY(scute_tx_commit(tx));
    }
  const waited after = waited_in(f.pool, o.lanes);
  const uint64_t transactions = after.transactions - before.transactions;
  EXPECT_EQ(transactions, 180U);
  EXPECT_EQ(after.allocs - before.allocs, all.size());
  EXPECT_GT(all.size(), 2000U);
  EXPECT_LE((after.syncs - before.syncs) * 10, transactions * 11)
      << after.syncs - before.syncs << " syncs for " << transactions << " transactions";
  expect_all(f, all);
  f.expect_sound();
  f.kill();
  f.open();
  expect_all(f, all);
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Levels, alloc_on_disk,
                         testing::Values(std::pair{SCUTE_PROTECT_NONE, 0U},
                                         std::pair{SCUTE_PROTECT_ML, 0U},
                                         std::pair{SCUTE_PROTECT_MLP, 1U},
                                         std::pair{SCUTE_PROTECT_MLPC, 1U},
                                         std::pair{SCUTE_PROTECT_MLPC, 4U}));

// Nothing of an aborted allocation is on the disk, and the next one has its slots; one that comes
// after takes along all that is pending (PEND-1, PEND-3), and so does a span (PEND-4).
TEST(log_file, AbortedAllocationsLeaveNothing) {
  disk_pool f(roomy(SCUTE_PROTECT_MLPC, 1));
  std::vector<made> all;
  const auto in_transaction = [&](unsigned objects, uint64_t size, bool commits) {
    scute_tx* tx = nullptr;
    SCUTE_OKAY(scute_tx_begin(f.pool, &tx));
    for (unsigned k = 0; k < objects; ++k) {
      const unsigned fill = static_cast<unsigned>(all.size()) + k;
      const scute_oid oid = alloc_in(tx, size, fill);
      if (commits) all.push_back({oid, size, fill});
    }
    if (commits)
      SCUTE_OKAY(scute_tx_commit(tx));
    else
      scute_tx_abort(tx);
  };
  for (unsigned round = 0; round < 3; ++round) {
    in_transaction(500, 100, false);
    f.expect_sound();
    in_transaction(300, 100 + round, true);
    in_transaction(300, 1000, false);
    in_transaction(1, 20000 + 30000 * round, true);
    f.expect_sound();
    in_transaction(200, 2000, false);
    if (round == 1) {
      f.close();
      f.open();
    } else {
      f.kill();
      f.open();
    }
    expect_all(f, all);
    f.expect_sound();
    in_transaction(40, 2000, true);
  }
  EXPECT_EQ(counters(f.pool).repairs, 0U);
  EXPECT_EQ(counters(f.pool).losses, 0U);
}

// More slots than may wait become durable with steps, and an aborted flood of them leaves room for
// the next transaction (PEND-5).
TEST(log_file, AFloodOfPendingSlotsIsBounded) {
  disk_pool f(roomy(SCUTE_PROTECT_MLPC, 1));
  scute_tx* tx = nullptr;
  SCUTE_OKAY(scute_tx_begin(f.pool, &tx));
  for (unsigned k = 0; k < 150'000; ++k) {
    scute_oid oid = 0;
    SCUTE_OKAY(scute_tx_alloc(tx, 30, 7, &oid, nullptr));
  }
  scute_tx_abort(tx);
  f.expect_sound();
  const uint64_t before_file = info(f.pool).log_file;
  const scute_counters before = counters(f.pool);
  const scute_oid oid = f.alloc(pattern(1, 30));
  const scute_counters after = counters(f.pool);
  // By steps, of which each finds room: the log need not grow for it. (An idle one shrinks.)
  EXPECT_LE(info(f.pool).log_file, before_file);
  EXPECT_GT(after.fences - before.fences, 50U);
  f.kill();
  f.open();
  EXPECT_EQ(f.read(oid), pattern(1, 30));
  f.expect_sound();
}

// An oid of an object that was never committed is refused as that, pending or not.
TEST(log_file, AnUncommittedObjectIsNone) {
  disk_pool f(roomy(SCUTE_PROTECT_MLPC, 1));
  scute_tx* tx = nullptr;
  SCUTE_OKAY(scute_tx_begin(f.pool, &tx));
  const scute_oid oid = alloc_in(tx, 5000, 1);
  scute_tx_abort(tx);
  const void* bytes = nullptr;
  SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f.pool, oid, &bytes));
}

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// On a disk a transaction costs one sync, whatever it allocates: what an allocation needs becomes
// durable with the transaction that needs it (PEND-1, LOGFILE-6, ROOM-10).
#include <gtest/gtest.h>

#include "hostile/fault_injector.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

// The syncs of a body's transactions.
struct sync_counter {
  uint64_t transactions = 0, syncs = 0;
  template <typename Fn>
  void operator()(const Fn& body) {
    faults::count();
    body();
    const auto calls = faults::disarm().calls;
    const auto of = [&](call c) { return calls[static_cast<size_t>(c)]; };
    syncs += of(call::fdatasync) + of(call::fsync) + of(call::msync);
    ++transactions;
  }
};

// Engines redo and logfree format slots by steps with syncs of their own, one step for 32 slots
// (docs/reference/limits.md).
TEST(sync_count, TheOtherEnginesShareStepsAmongManyTransactions) {
  for (const auto engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE}) {
    SCOPED_TRACE(engine == SCUTE_ENGINE_REDO ? "redo" : "logfree");
    pool_file f(scratch::disk);
    scute_options o = options(256 * mib, {SCUTE_PROTECT_MLPC, engine});
    o.medium = SCUTE_MEDIUM_FILE;
    f.create(o);
    f.in().idle.stop();
    sync_counter counted;
    for (uint64_t i = 0; i < 320; ++i) counted([&] { f.alloc(pattern(i, 64 + i % 4 * 1000)); });
    EXPECT_LE(counted.syncs * 10, counted.transactions * 25)
        << counted.syncs << " syncs in " << counted.transactions;
  }
}

// Allocations from 64 bytes to 16 MiB, the largest with what is freed for them, and with no help by
// another thread: this one has to checkpoint, too.
TEST(sync_count, OnePerTransactionWhateverItAllocates) {
  pool_file f(scratch::disk);
  scute_options o = options(gib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  f.create(o);
  f.in().idle.stop();
  constexpr uint64_t sizes[] = {64, 500, 4000, 16 * kib, 100 * kib, mib, 4 * mib, 16 * mib};
  constexpr size_t kinds = std::size(sizes);
  std::vector<scute_oid> kept(kinds);
  std::vector<uint64_t> keys(kinds);
  sync_counter counted;
  for (uint64_t round = 0; round < 6; ++round)
    for (size_t i = 0; i < kinds; ++i) {
      if (round % 3 == 2) {
        counted([&] { SCUTE_OKAY_E(f.free(std::exchange(kept[i], 0))); });
      }
      const bytes fresh = pattern(keys[i] = round * 100 + i, sizes[i]);
      counted([&] {
        transaction tx(f);
        void* to = nullptr;
        scute_oid oid = 0;
        SCUTE_OKAY(scute_tx_alloc(tx, fresh.size(), 1, &oid, &to));
        std::memcpy(to, fresh.data(), fresh.size());
        if (kept[i] != 0) {
          SCUTE_OKAY(scute_tx_free(tx, kept[i]));
        }
        kept[i] = oid;
        SCUTE_OKAY(tx.commit());
      });
    }
  EXPECT_LE(counted.syncs * 10, counted.transactions * 11)
      << counted.syncs << " syncs in " << counted.transactions;
  for (size_t i = 0; i < kinds; ++i) EXPECT_EQ(f.read(kept[i]), pattern(keys[i], sizes[i]));
  f.in().abandon();
  f.close();
  f.open();
  for (size_t i = 0; i < kinds; ++i) EXPECT_EQ(f.read(kept[i]), pattern(keys[i], sizes[i]));
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test

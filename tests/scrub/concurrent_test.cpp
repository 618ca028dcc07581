// SPDX-License-Identifier: BSD-3-Clause
// Damage that several threads meet at once, while others continue their transactions.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

TEST(concurrent_repair, ManyReadersAndWritersAroundOneDamage) {
  known_pool f;
  f.create(8 * mib);
  std::vector<scute_oid> damaged, busy;
  for (uint64_t i = 0; i < 64; ++i) {
    damaged.push_back(f.alloc(pattern(i, 2000)));
    busy.push_back(f.alloc(pattern(1000 + i, 200)));
  }
  for (int round = 0; round < 5; ++round) {
    for (const scute_oid oid : damaged) f.raw(f.offset_of(oid))[round * 100 + 7] ^= std::byte{0xff};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (uint64_t i = 0; i < damaged.size(); ++i) {
          if (t < 3) {
            const void* p = nullptr;
            const bytes want = pattern(i, 2000);
            if (scute_get_verified(f, damaged[i], &p) != 0 ||
                std::memcmp(p, want.data(), want.size()) != 0)
              ++wrong;
          } else if (i % 3 == t - 3) {
            transaction tx(f);
            void* p = nullptr;
            if (scute_tx_open(tx, busy[i], &p) != 0) {
              ++wrong;
              continue;
            }
            const bytes fresh = pattern(static_cast<uint64_t>(round) * 999 + i, 200);
            std::memcpy(p, fresh.data(), 200);
            if (tx.commit() != 0) ++wrong;
          }
        }
      });
    for (auto& t : threads) t.join();
    ASSERT_EQ(wrong, 0);
    f.expect_sound();
  }
}

// A commit in progress looks like damage to a thread that verifies the object at that moment.
// Nothing may be "repaired" then: the committed bytes stay, and the columns stay right.
// (REPAIR-4)
TEST(concurrent_repair, ACommitInProgressIsNoDamage) {
  for (const size_t n : {200u, 6000u}) {
    pool_file f;
    f.create(4 * mib);
    std::vector<scute_oid> oids;
    for (int i = 0; i < 4; ++i) oids.push_back(f.alloc(pattern(1, n)));
    std::atomic<bool> over{false};
    std::atomic<uint64_t> asked{0};
    std::thread reader([&] {
      while (!over)
        for (const scute_oid oid : oids) {
          uint64_t size = 0;
          const void* p = nullptr;
          // The results concern only the callers, which took no lock; the effects concern all.
          scute_object_info(f, oid, &size, nullptr, nullptr);
          scute_get_verified(f, oid, &p);
          ++asked;
        }
    });
    for (uint64_t i = 2; i < 4000 || asked < 1000; ++i) f.overwrite(oids[i % 4], pattern(i, n));
    for (uint64_t k = 0; k < 4; ++k) f.overwrite(oids[k], pattern(k, n));
    over = true;
    reader.join();
    f.expect_sound();
    for (uint64_t k = 0; k < 4; ++k) EXPECT_TRUE(f.read(oids[k]) == pattern(k, n));
  }
}

}  // namespace
}  // namespace scute::test

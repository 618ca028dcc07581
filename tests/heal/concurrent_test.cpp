// SPDX-License-Identifier: BSD-3-Clause
// Damage that several threads meet at once, while others go on with their transactions.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "heal/damage.hpp"

namespace scute::test {
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

}  // namespace
}  // namespace scute::test

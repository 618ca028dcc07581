// SPDX-License-Identifier: BSD-3-Clause
// Threads that write in place in a log-free pool of which nothing is resolved yet: each of them
// resolves what it comes to, and what others write there meanwhile stays (RES-2).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "support/power_failure.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

constexpr size_t objects = 240, size = 200;

TEST(writers_meanwhile, KeepWhatTheyWriteWhereOthersResolve) {
  random_source random(test_seed());
  constexpr unsigned threads = 4;
  for (int round = 0; round < 60; ++round) {
    pool_file f;
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE});
    o.rows = 4;
    f.create(o);
    std::vector<scute_oid> oids;
    for (uint64_t i = 0; i < objects; ++i) oids.push_back(f.alloc(pattern(i, size)));
    f.in().drain();
    const bytes before = read_file(f.path);
    for (uint64_t i = 0; i < objects; i += 4) {
      transaction tx(f);
      for (uint64_t k = i; k < i + 4; ++k) {
        void* p = nullptr;
        SCUTE_OKAY(scute_tx_open(tx, oids[k], &p));
        std::memcpy(p, pattern(1000 + k, size).data(), size);
      }
      SCUTE_OKAY(tx.commit());
    }
    f.in().drain();
    // All of the data had become durable when power failed, and no parity.
    bytes image = read_file(f.path);
    take_parity(f.in().s.geo, before, image);
    come_up(f, image);
    std::vector<bytes> content;
    for (uint64_t i = 0; i < objects; ++i) content.push_back(pattern(1000 + i, size));
    std::atomic<unsigned> ready{0};
    const auto write = [&](unsigned t, uint64_t seed) {
      std::minstd_rand own(static_cast<uint32_t>(seed));
      std::vector<uint64_t> mine;
      for (uint64_t i = t; i < objects; i += threads) mine.push_back(i);
      std::shuffle(mine.begin(), mine.end(), own);
      for (++ready; ready < threads;) std::this_thread::yield();
      for (const uint64_t i : mine) {
        transaction tx(f);
        const uint64_t from = own() % (size - 32);
        void* p = nullptr;
        SCUTE_OKAY_E(scute_tx_inplace(tx, oids[i], from, 32, &p));
        for (uint64_t k = 0; k < 32; ++k) {
          content[i][from + k] = static_cast<unsigned char>(own());
          static_cast<unsigned char*>(p)[k] = content[i][from + k];
          if (k % 8 == 0) std::this_thread::yield();
        }
        SCUTE_OKAY_E(tx.commit());
      }
    };
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; ++t) all.emplace_back(write, t, random.word());
    for (auto& t : all) t.join();
    // (So much old parity is reported as damage.)
    uint64_t reported = 0;
    const auto count = [](void* arg, const scute_event* e) {
      *static_cast<uint64_t*>(arg) += e->kind == SCUTE_EVENT_OBJECT ? 1 : 0;
    };
    SCUTE_OKAY(scute_events(f.pool, count, &reported));
    EXPECT_EQ(reported, 0u) << "round " << round;
    for (uint64_t i = 0; i < objects; ++i)
      EXPECT_TRUE(f.read(oids[i]) == content[i]) << "round " << round << ", object " << i;
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    f.expect_sound();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace scute::test

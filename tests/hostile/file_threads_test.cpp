// SPDX-License-Identifier: BSD-3-Clause
// Threads of one process on medium `file`, whose power fails repeatedly. The disk's bytes at any
// moment must open as a pool with every transaction that had returned by then, and none of it in
// part. The threads share columns, lanes and blocks, so they drain and spill each other all the
// time. More threads than lanes, so that lanes change hands.
//
// The disk has the bytes that syncs have written there (hostile/lossy_disk.hpp). So this test finds
// a writer whose fence syncs too little; kill -9 with the page cache intact would not show it. With
// engine spec there are two disks, the pool's and that of its log, which lose their power at one
// moment.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <tuple>

#include "hostile/lossy_disk.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

constexpr unsigned thread_count = 5, pair_count = 3;  // pairs of each thread
constexpr uint64_t object_size = 400;

// Returns the contents of a pair's object after its nth transaction. The number comes first.
bytes version(uint64_t of, uint64_t n) {
  bytes b = pattern(of * 1'000'000 + n, object_size);
  std::memcpy(b.data(), &n, sizeof n);
  return b;
}

class file_threads : public testing::TestWithParam<scute_engine> {
 protected:
  struct pair {
    scute_oid a = 0, b = 0;
    std::atomic<uint64_t> begun{0}, returned{0};
  };

  void SetUp() override {
    scute_options o = options(2 * mib);
    o.medium = SCUTE_MEDIUM_FILE;
    o.engine = GetParam();
    o.lanes = 3;
    o.rows = 4;
    f.create(o);
    // One after the other, so that those of several threads lie in one block.
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i].a = f.alloc(version(i, 0));
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i].b = f.alloc(version(i, 0));
    SCUTE_OKAY(scute_drain(f));
  }

  // The nth transaction of a pair; some are aborted at first.
  void change(size_t i, uint64_t n, random_source& random) {
    pair& p = pairs[i];
    const bytes with = version(i, n);
    const bool in_place = random.one_in(2);
    for (bool abort = random.one_in(4);; abort = false) {
      transaction tx(f);
      for (const scute_oid oid : {p.a, p.b}) {
        void* to = nullptr;
        const int e =
            in_place ? scute_tx_inplace(tx, oid, 0, object_size, &to) : scute_tx_open(tx, oid, &to);
        ASSERT_EQ(SCUTE_OK, e) << scute_errormsg();
        std::memcpy(to, with.data(), with.size());
        // Time for others to need the columns.
        if (in_place && random.one_in(2)) std::this_thread::yield();
      }
      if (abort) {
        tx.abort();
        continue;
      }
      p.begun = n;
      ASSERT_EQ(SCUTE_OK, tx.commit()) << scute_errormsg();
      p.returned = n;
      ++returned;
      return;
    }
  }

  void work(unsigned t, random_source& random) {
    for (uint64_t n = 1; !over && !HasFailure(); ++n)
      for (unsigned k = 0; k < pair_count; ++k) {
        change(t * pair_count + k, n, random);
        if (random.one_in(16)) {
          SCUTE_OKAY(scute_drain(f));
        }
      }
  }

  // Opens the disk's contents at this moment, as after a power failure.
  void verify(lossy_disk& disk, lossy_disk* log, random_source& random) {
    uint64_t least[thread_count * pair_count], most[thread_count * pair_count];
    for (size_t i = 0; i < pairs.size(); ++i) least[i] = pairs[i].returned;
    bytes left, left_log;
    if (log != nullptr)
      std::tie(left, left_log) = lossy_disk::after_power_failure(disk, *log, random);
    else
      left = disk.after_power_failure(random);
    for (size_t i = 0; i < pairs.size(); ++i) most[i] = pairs[i].begun;
    const std::string path = f.dir.file("left");
    write_file(path, left);
    if (log != nullptr) write_file(path + ".log", left_log);
    scute_pool* p = nullptr;
    scute_options o = opening();
    ASSERT_EQ(SCUTE_OK, scute_open(path.c_str(), &o, &p)) << scute_errormsg();
    const auto content = [&](scute_oid oid) {
      const void* at = nullptr;
      EXPECT_EQ(SCUTE_OK, scute_get_verified(p, oid, &at)) << scute_errormsg();
      if (at == nullptr) return bytes{};
      const auto* c = static_cast<const unsigned char*>(at);
      return bytes(c, c + object_size);
    };
    for (size_t i = 0; i < pairs.size(); ++i) {
      const bytes a = content(pairs[i].a), b = content(pairs[i].b);
      uint64_t n = 0;
      if (a.size() == object_size) std::memcpy(&n, a.data(), sizeof n);
      EXPECT_TRUE(a == version(i, n)) << "pair " << i << " is of no version";
      EXPECT_TRUE(a == b) << "pair " << i << " is there in part";
      EXPECT_GE(n, least[i]) << "pair " << i << ": a transaction that had returned is gone";
      EXPECT_LE(n, most[i]);
    }
    EXPECT_EQ(SCUTE_OK, scute_recovery_wait(p, nullptr, nullptr)) << scute_errormsg();
    scute_report r{};
    r.struct_size = sizeof r;
    EXPECT_EQ(SCUTE_OK, scute_check(p, 0, &r, nullptr, nullptr, nullptr));
    EXPECT_EQ(r.damaged, 0u);
    p->in->abandon();
    scute_close(p);
  }

  pool_file f;
  std::vector<pair> pairs = std::vector<pair>(thread_count * pair_count);
  std::atomic<uint64_t> returned{0};
  std::atomic<bool> over{false};
};

TEST_P(file_threads, EveryPowerFailureLeavesWhatHadReturned) {
  SCUTE_RANDOM(random);
  lossy_disk disk(f.path);
  std::optional<lossy_disk> log;
  if (GetParam() == SCUTE_ENGINE_SPEC) log.emplace(f.path + ".log");
  std::vector<std::thread> threads;
  std::deque<random_source> of_thread;
  for (unsigned t = 0; t < thread_count; ++t) {
    random_source& own = of_thread.emplace_back(random);
    threads.emplace_back([this, t, &own] { work(t, own); });
  }
  for (uint64_t k = 0; k < 40 && !HasFailure(); ++k) {
    // Some have returned since the last time.
    while (returned < k * 10 && !HasFailure()) std::this_thread::yield();
    verify(disk, log ? &*log : nullptr, random);
  }
  over = true;
  for (auto& t : threads) t.join();
  const scute_counters c = f.stats();
  std::printf("%llu transactions, %llu drains, %llu undo_spills\n",
              static_cast<unsigned long long>(c.transactions),
              static_cast<unsigned long long>(c.drains),
              static_cast<unsigned long long>(c.undo_spills));
  if (GetParam() == SCUTE_ENGINE_LOGFREE) {
    EXPECT_GT(c.drains, 0u);
  }
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(On, file_threads, every_engine, engine_name);

}  // namespace
}  // namespace scute::test

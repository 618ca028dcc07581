// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: what is its own. The other suites run with it as well (engine/spec, and so on).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "support/pool_file.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

struct spec_kind {
  const char* name;
  scute_protection protection;
  uint32_t parity;
};

class spec_engine : public ::testing::TestWithParam<spec_kind> {
 protected:
  scute_options wanted(uint64_t size = 4 * mib) const {
    scute_options o = options(size, {GetParam().protection, SCUTE_ENGINE_SPEC, GetParam().parity});
    o.lanes = 4;
    return o;
  }
  pool_file pool;
};

INSTANTIATE_TEST_SUITE_P(, spec_engine,
                         ::testing::Values(spec_kind{"none", SCUTE_PROTECT_NONE, 0},
                                           spec_kind{"ml", SCUTE_PROTECT_ML, 0},
                                           spec_kind{"mlp", SCUTE_PROTECT_MLP, 1},
                                           spec_kind{"mlpc", SCUTE_PROTECT_MLPC, 1},
                                           spec_kind{"mlpc4", SCUTE_PROTECT_MLPC, 4}),
                         [](const auto& p) { return std::string(p.param.name); });

TEST_P(spec_engine, KeepsWhatWasCommitted) {
  pool.create(wanted());
  const scute_oid a = pool.alloc(pattern(1, 100)), b = pool.alloc(pattern(2, 9000));
  {
    transaction tx(pool);
    void* at = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, a, &at));
    std::memset(at, 7, 100);
    SCUTE_OKAY(scute_tx_add_range(tx, b, 5000, 10, &at));
    std::memset(at, 8, 10);
    SCUTE_OKAY(tx.commit());
  }
  pool.expect_sound();
  pool.reopen();
  pool.expect_sound();
  EXPECT_EQ(pool.read(a), bytes(100, 7));
  EXPECT_EQ(pool.read(b)[5005], 8);
}

// One fence per commit, however many objects.
TEST_P(spec_engine, CommitsWithOneFence) {
  pool.create(wanted());
  pool.in().idle.stop();  // a checkpoint has fences of its own
  std::vector<scute_oid> oids;
  for (unsigned i = 0; i < 8; ++i) oids.push_back(pool.alloc(pattern(i, 200)));
  SCUTE_OKAY(scute_drain(pool));
  const uint64_t before = pool.stats().fences;
  for (int i = 0; i < 10; ++i) {
    transaction tx(pool);
    for (const scute_oid o : oids) {
      void* at = nullptr;
      SCUTE_OKAY(scute_tx_open(tx, o, &at));
      std::memset(at, i, 200);
    }
    SCUTE_OKAY(tx.commit());
  }
  EXPECT_EQ(pool.stats().fences - before, 10U);
}

// The log is turned over many times.
TEST_P(spec_engine, TurnsItsLogOver) {
  pool.create(wanted());
  std::vector<scute_oid> oids;
  for (unsigned i = 0; i < 50; ++i) oids.push_back(pool.alloc(pattern(i, 4000)));
  std::mt19937 random(1);
  std::vector<unsigned> last(oids.size());
  for (unsigned i = 0; i < 3000; ++i) {
    const size_t k = random() % oids.size();
    transaction tx(pool);
    void* at = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, oids[k], &at));
    std::memset(at, static_cast<int>(i), 4000);
    SCUTE_OKAY(tx.commit());
    last[k] = i;
  }
  pool.expect_sound();
  pool.reopen();
  for (size_t k = 0; k < oids.size(); ++k)
    if (last[k] != 0) {
      EXPECT_EQ(pool.read(oids[k]), bytes(4000, static_cast<unsigned char>(last[k])));
    }
}

// Killed anywhere: acknowledged transactions are there, and ranges in place of all others are
// rolled back.
TEST_P(spec_engine, OutlivesKills) {
  const scute_options how = wanted();
  pool.create(how);
  std::vector<scute_oid> oids;
  for (unsigned i = 0; i < 20; ++i) oids.push_back(pool.alloc(bytes(600, 0)));
  for (int round = 0; round < 6; ++round) {
    pool.close();
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      scute_pool* p = nullptr;
      if (scute_open(pool.path.c_str(), &how, &p) != SCUTE_OK) ::_exit(1);
      for (uint32_t i = 0;; ++i) {
        scute_tx* tx = nullptr;
        if (scute_tx_begin(p, &tx) != SCUTE_OK) ::_exit(2);
        void* at = nullptr;
        const bool in_place = i % 3 == 0;
        for (unsigned k = 0; k < 3; ++k) {
          const scute_oid o = oids[(i + k) % oids.size()];
          const int e =
              in_place ? scute_tx_inplace(tx, o, 100, 300, &at) : scute_tx_open(tx, o, &at);
          if (e != SCUTE_OK) ::_exit(3);
          std::memset(static_cast<std::byte*>(at) + (in_place ? 0 : 100), static_cast<int>(i), 300);
        }
        if (i % 7 == 6) {
          if (scute_tx_abort(tx) != SCUTE_OK) ::_exit(4);
          continue;
        }
        if (scute_tx_commit(tx) != SCUTE_OK) ::_exit(5);
        if (::write(ends[1], &i, sizeof i) != sizeof i) ::_exit(6);
      }
    }
    ::close(ends[1]);
    // However long the child takes until its first commit on a machine that is busy.
    uint32_t i = 0, acknowledged = 0;
    bool any = ::read(ends[0], &i, sizeof i) == sizeof i;
    acknowledged = i;
    pause(std::chrono::microseconds(9000 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    while (::read(ends[0], &i, sizeof i) == sizeof i) {
      acknowledged = i;
      any = true;
    }
    ::close(ends[0]);
    ASSERT_TRUE(any);
    pool.open();
    pool.expect_sound();
    // The last one to write an object was acknowledged, or the next committed one after it.
    uint32_t next = acknowledged + 1;
    if (next % 7 == 6) ++next;
    const auto holds = [&](scute_oid o, uint32_t by) {
      return pool.read(o)[150] == static_cast<unsigned char>(by);
    };
    unsigned of_next = 0;
    for (unsigned k = 0; k < 3; ++k) of_next += holds(oids[(next + k) % oids.size()], next) ? 1 : 0;
    EXPECT_TRUE(of_next == 0 || of_next == 3) << of_next;
    for (unsigned k = 0; k < 3 && of_next == 0; ++k)
      EXPECT_TRUE(holds(oids[(acknowledged + k) % oids.size()], acknowledged));
  }
}

// A range that is open in place for a long time, while others turn the log over, and then the
// process dies (CLOG-3).
TEST_P(spec_engine, RenewsWhatIsOpen) {
  const scute_options how = wanted();
  pool.create(how);
  const scute_oid open = pool.alloc(bytes(300, 1));
  const scute_oid other = pool.alloc(bytes(4000, 2));
  pool.close();
  const pid_t child = ::fork();
  if (child == 0) {
    scute_pool* p = nullptr;
    if (scute_open(pool.path.c_str(), &how, &p) != SCUTE_OK) ::_exit(1);
    scute_tx* tx = nullptr;
    void* at = nullptr;
    if (scute_tx_begin(p, &tx) != SCUTE_OK) ::_exit(2);
    if (scute_tx_inplace(tx, open, 10, 200, &at) != SCUTE_OK) ::_exit(3);
    std::memset(at, 9, 200);
    std::thread([&] {
      for (int i = 0; i < 2000; ++i) {
        scute_tx* mine = nullptr;
        void* to = nullptr;
        if (scute_tx_begin(p, &mine) != SCUTE_OK || scute_tx_open(mine, other, &to) != SCUTE_OK)
          ::_exit(4);
        std::memset(to, i, 4000);
        if (scute_tx_commit(mine) != SCUTE_OK) ::_exit(5);
        if (i % 500 == 0 && scute_drain(p) != SCUTE_OK) ::_exit(6);
      }
    }).join();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  pool.open();
  pool.expect_sound();
  EXPECT_EQ(pool.read(open), bytes(300, 1));
  EXPECT_EQ(pool.read(other), bytes(4000, static_cast<unsigned char>(1999)));
}

// Larger than a segment, and larger than the log.
TEST_P(spec_engine, TakesTransactionsOfSeveralFrames) {
  pool.create(wanted(16 * mib));
  const uint64_t size = 100000;
  const scute_oid a = pool.alloc(bytes(size, 1));
  transaction tx(pool);
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, a, &at));
  std::memset(at, 2, size);
  SCUTE_OKAY(tx.commit());
  pool.reopen();
  EXPECT_EQ(pool.read(a), bytes(size, 2));
}

}  // namespace
}  // namespace scute::test

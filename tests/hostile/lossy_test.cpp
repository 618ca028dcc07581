// SPDX-License-Identifier: BSD-3-Clause
// Medium `file` on a disk whose failing syncs lose pages: after that, the page cache and the disk
// differ (hostile/lossy_disk.hpp). Every sync of every operation fails in turn. The next session
// must find what it would find after a power failure. Changes that it acknowledges must survive
// one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <thread>

#include "hostile/fault_operations.hpp"
#include "hostile/lossy_disk.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

std::vector<operation> on_existing_files() {
  std::vector<operation> some;
  for (const operation& o : operations())
    if (o.before != image::none && !std::string(o.name).starts_with("create")) some.push_back(o);
  return some;
}

class lossy : public testing::TestWithParam<operation> {
 protected:
  static fault_stage& stage() {
    static fault_stage one;
    return one;
  }
  static bool read_only() { return std::string(GetParam().name).starts_with("open_read_only"); }

  attempt prepare() {
    const operation& o = GetParam();
    static const bytes fresh = fault_stage::fresh_image();
    write_file(stage().path(), o.before == image::crashed   ? stage().crashed
                               : o.before == image::damaged ? stage().damaged
                               : o.before == image::fresh   ? fresh
                                                            : stage().clean);
    return {stage(), stage().path(), SCUTE_MEDIUM_FILE};
  }
  std::string expected(bool run) {
    attempt a = prepare();
    if (GetParam().opened) {
      EXPECT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    }
    if (run) {
      EXPECT_EQ(SCUTE_OK, GetParam().run(a)) << scute_errormsg();
    }
    if (a.pool != nullptr) {
      EXPECT_EQ(SCUTE_OK, scute_close(std::exchange(a.pool, nullptr))) << scute_errormsg();
    }
    EXPECT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    const std::string c = stage().contents(a.pool);
    scute_close(a.pool);
    return c;
  }

  // False if the operation makes no nth call.
  bool disturbed(random_source& random, call c, uint64_t nth) {
    SCOPED_TRACE(std::string(GetParam().name) + ": " + call_name(c) + " fails at call " +
                 std::to_string(nth));
    attempt a = prepare();
    lossy_disk disk(a.path);
    if (GetParam().opened) {
      EXPECT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    }
    faults::arm(c, nth, EIO);
    const int e = GetParam().run(a);
    if (!faults::disarm().hit) {
      scute_close(a.pool);
      return false;
    }
    if (a.pool != nullptr) {
      if (random.one_in(2)) a.pool->in->abandon();  // killed, now that it has happened
      scute_close(std::exchange(a.pool, nullptr));
    }
    EXPECT_TRUE(e == SCUTE_OK || e == SCUTE_E_IO) << scute_errorname(e);
    disk.keeps_pages = random.one_in(3);
    goes_on(a, disk, random);
    return true;
  }

  void goes_on(attempt& a, lossy_disk& disk, random_source& random) {
    ASSERT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    EXPECT_EQ(disk.lost_pages(), 0u) << "the page cache and the disk differ";
    const std::string found = stage().contents(a.pool);
    EXPECT_TRUE(found == before || found == after) << found;
    ASSERT_EQ(SCUTE_OK, fault_stage::count_up(a.pool)) << scute_errormsg();
    const std::string acknowledged = stage().contents(a.pool);
    a.pool->in->abandon();
    scute_close(std::exchange(a.pool, nullptr));
    disk.fail_power(random);
    ASSERT_EQ(SCUTE_OK, a.open()) << scute_errormsg();
    EXPECT_EQ(stage().contents(a.pool), acknowledged);
    scute_report r{};
    r.struct_size = sizeof r;
    EXPECT_EQ(SCUTE_OK, scute_check(a.pool, 0, &r, nullptr, nullptr, nullptr));
    EXPECT_EQ(GetParam().before == image::damaged ? r.lost : r.damaged, 0u);
    EXPECT_EQ(SCUTE_OK, scute_close(std::exchange(a.pool, nullptr))) << scute_errormsg();
  }

  std::string before, after;
};

// CACHE-2.
TEST_P(lossy, EverySyncOnce) {
  SCUTE_RANDOM(random);
  before = expected(false);
  after = expected(true);
  for (const call c : {call::msync, call::fdatasync})
    for (uint64_t nth = 1; !HasFailure() && disturbed(random, c, nth); ++nth)
      ASSERT_LT(nth, 500u) << "there is no end of it";
}

INSTANTIATE_TEST_SUITE_P(In, lossy, testing::ValuesIn(on_existing_files()),
                         [](const auto& p) { return std::string(p.param.name); });

// ---- one at a time ------------------------------------------------------------------------------

class failing_disk : public testing::Test {
 protected:
  void SetUp() override {
    scute_options o = options();
    o.medium = SCUTE_MEDIUM_FILE;
    o.engine = SCUTE_ENGINE_LOGFREE;
    f.create(o);
    first = f.alloc(pattern(1, 300));
    second = f.alloc(pattern(2, 300));
    f.in().idle.stop();
    SCUTE_OKAY(scute_drain(f));
  }
  void TearDown() override { fail(0); }
  static void fail(int error) {
    faults::always(call::msync, error);
    faults::always(call::fdatasync, error);
  }
  int try_overwrite(scute_oid oid, const bytes& with) {
    scute_tx* tx = nullptr;
    void* to = nullptr;
    if (const int e = scute_tx_begin(f, &tx); e != SCUTE_OK) return e;
    if (const int e = scute_tx_open(tx, oid, &to); e != SCUTE_OK) {
      scute_tx_abort(tx);
      return e;
    }
    std::memcpy(to, with.data(), with.size());
    return scute_tx_commit(tx);
  }

  pool_file f;
  scute_oid first = 0, second = 0;
};

// The sync that reports the error may be the last one that does: the kernel reports an error once.
// (CACHE-1)
TEST_F(failing_disk, APageThatCannotBeRestoredStopsThePool) {
  const uint64_t page = f.offset_of(first) & ~uint64_t{4095};
  const bytes noise(4096, 7);
  uint64_t hits = 0;
  for (bool hit = true; hit && !HasFailure(); hits += hit) {
    f.in().pages->lose(page, reinterpret_cast<const std::byte*>(noise.data()));
    faults::arm(call::fdatasync, hits + 1, EIO);
    EXPECT_TRUE(f.read(first) == pattern(1, 300)) << "the page itself could be rebuilt";
    hit = faults::disarm().hit;
    EXPECT_EQ(f.in().s.medium->failed(), hit) << "sync " << hits + 1;
    if (!hit) break;
    SCUTE_FAILS(SCUTE_E_IO, try_overwrite(second, pattern(3, 300)));
    SCUTE_FAILS(SCUTE_E_IO, scute_close(std::exchange(f.pool, nullptr)));
    scute_options o = opening();
    o.medium = SCUTE_MEDIUM_FILE;
    SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
    f.in().idle.stop();
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    EXPECT_TRUE(f.read(first) == pattern(1, 300));
  }
  EXPECT_GT(hits, 0u) << "no sync was reached";
}

// WIN-5: the fence that makes way for it has failed, so the columns must not be stored to.
TEST_F(failing_disk, AWindowIsNotEnteredAfterADrainThatFailed) {
  SCUTE_OKAY(try_overwrite(first, pattern(4, 300)));  // deferred
  fail(EIO);
  int e = SCUTE_OK;
  std::thread([&] { e = try_overwrite(second, pattern(5, 300)); }).join();
  fail(0);
  EXPECT_EQ(e, SCUTE_E_IO);
  const bytes old = pattern(2, 300);
  EXPECT_EQ(std::memcmp(f.raw(f.offset_of(second)), old.data(), old.size()), 0);
  // No thread waits for the columns for ever.
  std::thread([&] { e = try_overwrite(first, pattern(6, 300)); }).join();
  EXPECT_EQ(e, SCUTE_E_IO);
}
TEST_F(failing_disk, AnInPlaceRangeIsNotGivenAfterADrainThatFailed) {
  SCUTE_OKAY(try_overwrite(first, pattern(4, 300)));
  fail(EIO);
  int e = SCUTE_OK;
  std::thread([&] {
    transaction tx(f);
    void* p = nullptr;
    e = scute_tx_inplace(tx, second, 0, 100, &p);
  }).join();
  fail(0);
  EXPECT_EQ(e, SCUTE_E_IO);
}
// A thread waits for the columns of an in-place range while another aborts that range, and fails.
TEST_F(failing_disk, AnAbortThatFailsLetsGoOfItsColumns) {
  lossy_disk disk(f.path);
  std::atomic<bool> aborting{false}, go_on{false};
  disk.before_sync = [&] {
    aborting = true;
    while (!go_on) std::this_thread::yield();
  };
  std::thread one([&] {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY_E(scute_tx_inplace(tx, first, 0, 100, &p));
    std::memset(p, 9, 100);
    fail(EIO);
    tx.abort();
  });
  while (!aborting) std::this_thread::yield();
  int e = SCUTE_OK;
  waiting_thread other([&] { e = try_overwrite(second, pattern(5, 300)); });
  EXPECT_TRUE(other.comes_to_wait());
  go_on = true;
  one.join();
  other.join();  // which would wait for ever
  fail(0);
  EXPECT_EQ(e, SCUTE_E_IO);
}

TEST_F(failing_disk, DrainReportsAFailure) {
  SCUTE_OKAY(try_overwrite(first, pattern(4, 300)));
  fail(EIO);
  SCUTE_FAILS(SCUTE_E_IO, scute_drain(f));
  fail(0);
  SCUTE_FAILS(SCUTE_E_IO, scute_drain(f));
}

TEST_F(failing_disk, DrainWaitsForAnotherOne) {
  lossy_disk disk(f.path);
  std::atomic<bool> syncing{false}, go_on{false}, over{false};
  disk.before_sync = [&] {
    syncing = true;
    while (!go_on) std::this_thread::yield();
    over = true;
  };
  // Its own fence of the data would wait for itself.
  go_on = true;
  SCUTE_OKAY(try_overwrite(first, pattern(4, 300)));
  go_on = syncing = over = false;
  std::thread one([&] { SCUTE_OKAY_E(scute_drain(f)); });
  while (!syncing) std::this_thread::yield();
  bool durable = false;
  waiting_thread other([&] {
    SCUTE_OKAY_E(scute_drain(f));
    durable = over;
  });
  EXPECT_TRUE(other.comes_to_wait());
  go_on = true;
  one.join();
  other.join();
  EXPECT_TRUE(durable);
}

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// A pool with a log file on a disk whose syncs fail and lose pages (LOGFILE-4, LOGFILE-5, STREAM-1,
// STREAM-2, STREAM-3). The pool stops, and earlier acknowledged changes survive a power failure.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "hostile/fault_injector.hpp"
#include "hostile/lossy_disk.hpp"
#include "support/pool_file.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

scute_options synced_options() {
  scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  o.lanes = 8;
  return o;
}

int overwrite(scute_pool* pool, scute_oid oid, const bytes& content) {
  scute_tx* tx = nullptr;
  void* to = nullptr;
  if (const int e = scute_tx_begin(pool, &tx); e != SCUTE_OK) return e;
  if (const int e = scute_tx_open(tx, oid, &to); e != SCUTE_OK) {
    scute_tx_abort(tx);
    return e;
  }
  std::memcpy(to, content.data(), content.size());
  return scute_tx_commit(tx);
}

// The nth sync, or write, of the log fails; whatever the disk has then, no acknowledged transaction
// is missing.
TEST(log_file_sync, AFailureStopsThePoolAndLosesNothing) {
  SCUTE_RANDOM(random);
  for (const call what : {call::fdatasync, call::pwrite})
    for (uint64_t nth = 1; nth <= 6; ++nth) {
      SCOPED_TRACE(std::string(call_name(what)) + " " + std::to_string(nth));
      pool_file f(scratch::disk);
      scute_options o = synced_options();
      f.create(o);
      const scute_oid oid = f.alloc(pattern(0, 300));
      lossy_disk disk(f.path + ".log");
      faults::arm(what, nth, EIO);
      uint64_t acknowledged = 0, tried = 0;
      while (tried < 20) {
        const int e = overwrite(f.pool, oid, pattern(++tried, 300));
        if (e != SCUTE_OK) {
          EXPECT_EQ(e, SCUTE_E_IO);
          break;
        }
        acknowledged = tried;
      }
      EXPECT_TRUE(faults::disarm().hit);
      ASSERT_LT(acknowledged, tried) << "no error was reported";
      SCUTE_FAILS(SCUTE_E_IO, overwrite(f.pool, oid, pattern(99, 300)));
      disk.keeps_pages = random.one_in(2);
      SCUTE_FAILS(SCUTE_E_IO, scute_close(std::exchange(f.pool, nullptr)));
      for (const bool power : {false, true}) {
        if (power) disk.fail_power(random);
        SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
        const bytes got = f.read(oid);
        EXPECT_TRUE(got == pattern(acknowledged, 300) || got == pattern(tried, 300));
        f.expect_sound();
        f.in().abandon();
        f.close();
      }
      // The next session really stores what it acknowledges, though syncs of clean pages do
      // nothing.
      SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
      SCUTE_OKAY(overwrite(f.pool, oid, pattern(77, 300)));
      f.in().abandon();
      f.close();
      disk.fail_power(random);
      SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
      EXPECT_EQ(f.read(oid), pattern(77, 300));
      f.expect_sound();
    }
}

// Commits at the same time share syncs, and each is durable when it returns.
TEST(log_file_sync, CommitsAtTheSameTimeShareSyncs) {
  SCUTE_RANDOM(random);
  pool_file f(scratch::disk);
  const scute_options o = synced_options();
  f.create(o);
  constexpr unsigned threads = 8, each = 40;
  std::vector<scute_oid> oids;
  for (unsigned t = 0; t < threads; ++t) oids.push_back(f.alloc(pattern(t, 256)));
  lossy_disk disk(f.path + ".log");
  constexpr pid_t gone = -1;
  std::array<std::atomic<pid_t>, threads> numbers{};
  static thread_local bool commits = false;
  std::atomic<uint64_t> syncs{0};
  // It takes its time, as a disk does: until all others wait.
  disk.before_sync = [&] {
    syncs.fetch_add(1);
    if (!commits) return;
    for (const auto& number : numbers)
      wait_until([&] { return number == gone || number == ::gettid() || sleeps(number); });
  };
  std::vector<std::thread> crew;
  for (unsigned t = 0; t < threads; ++t)
    crew.emplace_back([&, t] {
      numbers[t] = ::gettid();
      commits = true;
      for (unsigned k = 1; k <= each; ++k)
        SCUTE_OKAY_E(overwrite(f.pool, oids[t], pattern(t * 1000 + k, 256)));
      numbers[t] = gone;
    });
  for (std::thread& t : crew) t.join();
  // One after the other they would be as many as commits.
  EXPECT_LT(syncs.load(), threads * each / 2);
  f.in().abandon();
  f.close();
  disk.fail_power(random);
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(f.read(oids[t]), pattern(t * 1000 + each, 256));
  f.expect_sound();
}

// STREAM-4: a log that is extended concurrently with a commit is synced after it, not at the same
// time. The kernel would report the error of the commit's page to the first sync, and to no other.
TEST(log_file_sync, GrowthDuringACommitTakesNoErrorFromIt) {
  SCUTE_RANDOM(random);
  bool hit = false;
  for (const call what : {call::fdatasync, call::fsync}) {
    SCOPED_TRACE(call_name(what));
    pool_file f(scratch::disk);
    scute_options o = synced_options();
    o.protection = SCUTE_PROTECT_NONE;  // one copy of everything
    o.size = 16 * mib;
    o.log_cap = 256 * kib;
    f.create(o);
    const scute_oid oid = f.alloc(pattern(0, 300)), large = f.alloc(pattern(1, 2 * mib));
    SCUTE_OKAY(scute_drain(f.pool));
    f.in().idle.stop();  // so no thread syncs the pool itself, which stays as it is now
    const bytes pool = read_file(f.path);
    lossy_disk disk(f.path + ".log");
    std::atomic<bool> inside = false, armed = false, failed = false, left = false;
    std::atomic<bool> committed = false;
    std::atomic<int> acknowledged = -1;
    std::atomic<pid_t> number = 0;
    static thread_local bool commits = false;
    disk.before_sync = [&] {
      if (!commits || inside.exchange(true)) return;
      // The growth waits for this sync, as it should, or has met the error.
      while (!armed) std::this_thread::yield();
      wait_until([&] { return failed || sleeps(::getpid()); });
      left = true;
    };
    // The thread that has the error has not reported it yet.
    disk.after_failure = [&] {
      failed = true;
      while (!left) std::this_thread::yield();
      wait_until([&] { return committed || sleeps(number); });
    };
    std::thread committer([&] {
      number = ::gettid();
      commits = true;
      acknowledged = overwrite(f.pool, oid, pattern(5, 300));
      committed = true;
    });
    while (!inside) std::this_thread::yield();
    faults::arm(what, 1, EIO);
    armed = true;
    const int grown = overwrite(f.pool, large, pattern(2, 2 * mib));
    const bool here = faults::disarm().hit;
    hit = hit || here;
    EXPECT_EQ(grown, here ? SCUTE_E_IO : SCUTE_OK);
    failed = true;
    committer.join();
    if (here) {
      SCUTE_FAILS(SCUTE_E_IO, overwrite(f.pool, oid, pattern(99, 300)));
    }
    f.in().abandon();
    scute_close(std::exchange(f.pool, nullptr));
    disk.fail_power(random);
    write_file(f.path, pool);
    SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
    if (acknowledged == SCUTE_OK) {
      EXPECT_EQ(f.read(oid), pattern(5, 300));
    }
    f.expect_sound();
  }
  EXPECT_TRUE(hit);
}

}  // namespace
}  // namespace scute::test

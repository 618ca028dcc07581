// SPDX-License-Identifier: BSD-3-Clause
// The thread that makes deferred parity durable when nothing else does. No test here says how long
// that may take; they say that the thread is awake whenever there is something to do.
#include <gtest/gtest.h>

#include <thread>

#include "core/shared/idle_watch.hpp"
#include "support/pool_file.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

// It used to look ever more rarely at a pool without work, and found a transaction after 660 ms.
// (IDLE-1)
TEST(idle_drain, sleeps_while_there_is_nothing_and_is_awake_when_there_is) {
  pool_file f;
  f.create(options(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE}));
  const scute_oid oid = f.alloc(pattern(1, 100));
  const pool::idle_watch& watch = f.in().s.watch;
  for (uint64_t round = 2; round < 5; ++round) {
    wait_until([&] { return watch.dozing(); });
    const uint64_t drains = f.stats().drains;
    f.overwrite(oid, pattern(round, 100));
    EXPECT_FALSE(watch.dozing() && f.stats().drains == drains);
    wait_until([&] { return f.stats().drains > drains; });
  }
  wait_until([&] { return watch.dozing(); });
  f.close();  // wakes it
}

// IDLE-1.
TEST(idle_watch, is_woken_by_what_is_deferred_and_by_its_end) {
  pool::idle_watch watch;
  watch.deferred();
  EXPECT_FALSE(watch.dozing());
  watch.announce();
  EXPECT_TRUE(watch.dozing());
  watch.deferred();
  EXPECT_FALSE(watch.dozing());
  watch.sleep();  // returns at once, since it is awake
  watch.announce();
  std::thread sleeper([&] { watch.sleep(); });
  watch.deferred();
  sleeper.join();
  watch.announce();
  std::thread another([&] { watch.sleep(); });
  watch.stop();
  another.join();
  watch.announce();
  EXPECT_FALSE(watch.dozing()) << "no thread would wake it";
}

}  // namespace
}  // namespace scute::test

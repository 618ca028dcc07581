// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits for another one sleeps, and continues when the other one releases what it
// holds (base/locks/waiting.hpp). The tests of real-time priorities need rights that a process may
// lack; these need none: the calling thread holds each lock for as long as the test wants.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "base/locks/spin_lock.hpp"
#include "base/locks/waiting.hpp"
#include "base/process/process.hpp"
#include "core/shared/parity/columns.hpp"
#include "support/pool_file.hpp"
#include "support/sleeper.hpp"

namespace scute::test {
namespace {

template <typename Lock>
void try_lock_of() {
  Lock lock;
  lock.lock();
  expect_sleeper([&] { lock.lock(), lock.unlock(); }, [&] { lock.unlock(); });
}

TEST(waits, ForASpinLock) {
  try_lock_of<spin_lock>();
}
TEST(waits, ForAMutexThatIsHeldAcrossWrites) {
  try_lock_of<waiting_mutex>();
}
TEST(waits, ForTheTablesOfTheProcess) {
  process_tables().lock();
  expect_sleeper([] { process_tables().lock(), process_tables().unlock(); },
                 [] { process_tables().unlock(); });
}

// For a condition, as most loops of the library do.
TEST(waits, ForACondition) {
  std::atomic<bool> set{false};
  expect_sleeper(
      [&] {
        for (unsigned spins = 0; !set;) spin_pause(spins);
      },
      [&] { set = true; });
}

TEST(waits, ForAColumn) {
  for (const auto engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC}) {
    SCOPED_TRACE(engine);
    pool_file f;
    f.create(2 * mib, {SCUTE_PROTECT_MLPC, engine});
    const scute_oid oid = f.alloc(pattern(1, 300));
    auto& locks = f.in().s.locks;
    const uint32_t column = pool::stripe_of(f.in().s, f.offset_of(oid));
    // To change it, to share it, and as the place of a commit.
    const std::function<void()> ways[] = {
        [&] { locks.lock_exclusive(column), locks.unlock_exclusive(column); },
        [&] {
          locks.lock_shared(column);
          locks.unlock_shared(column, [](pool::stripe_owner o) { return o; });
        },
        [&] {
          f.overwrite(oid, pattern(2, 300));
          f.in().drain();  // spec writes its place now
        }};
    for (const auto& way : ways) {
      locks.lock_exclusive(column);
      expect_sleeper(way, [&] { locks.unlock_exclusive(column); });
    }
    EXPECT_TRUE(f.read(oid) == pattern(2, 300));
    f.expect_sound();
  }
}

TEST(waits, ForAnObject) {
  pool_file f;
  f.create(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});
  const scute_oid oid = f.alloc(pattern(1, 300));
  auto& locks = f.in().s.locked_objects;
  const uint32_t object = pool::object_locks::index(f.offset_of(oid));
  locks.take(object);
  expect_sleeper([&] { f.overwrite(oid, pattern(2, 300)); }, [&] { locks.release(object); });
  EXPECT_TRUE(f.read(oid) == pattern(2, 300));
}

TEST(waits, ForALane) {
  pool_file f;
  scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE});
  o.lanes = 1;
  f.create(o);
  scute_tx* tx = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  expect_sleeper([&] { EXPECT_NE(f.alloc(pattern(1, 10)), 0u); },
                 [&] { SCUTE_OKAY_E(scute_tx_commit(tx)); });
}

}  // namespace
}  // namespace scute::test

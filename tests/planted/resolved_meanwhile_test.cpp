// SPDX-License-Identifier: BSD-3-Clause
// A thread resolves a block of a log-free pool; wherever it is, another one begins to write in
// place in the same block (RES-2). On the planted core, whose threads can be switched where they
// look without a lock (switch_point()).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/held_point.hpp"
#include "base/locks/waiting.hpp"
#include "support/power_failure.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint64_t objects = 8, size = 200;

class resolved_meanwhile : public ::testing::TestWithParam<bool> {
 protected:
  // All objects are new, by one transaction whose parity is still old; or all but one are, so that
  // the transaction was not decided.
  void SetUp() override {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE});
    o.rows = 4;
    f.create(o);
    for (uint64_t i = 0; i < objects; ++i) oids.push_back(f.alloc(pattern(i, size)));
    f.in().drain();
    const bytes before = read_file(f.path);
    {
      transaction tx(f);
      for (uint64_t i = 0; i < objects; ++i) {
        void* p = nullptr;
        SCUTE_OKAY(scute_tx_open(tx, oids[i], &p));
        std::memcpy(p, pattern(100 + i, size).data(), size);
      }
      SCUTE_OKAY(tx.commit());
    }
    f.in().drain();
    image = read_file(f.path);
    take_parity(f.in().s.geo, before, image);
    if (is_decided()) return;
    const auto at = static_cast<long>(f.offset_of(oids[1]) - format::header_size);
    std::copy_n(before.begin() + at, size + format::header_size, image.begin() + at);
  }
  bool interleave(unsigned nth, unsigned mth);
  static bool is_decided() { return GetParam(); }
  // The other thread. It stops where it passes the mth switch point of its commit, or after
  // that, until the first one is through.
  void write(uint64_t i) {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, oids[i], 0, size, &p));
    std::memcpy(p, pattern(200 + i, size).data(), size);
    const auto pass = [](void* arg) {
      auto& t = *static_cast<resolved_meanwhile*>(arg);
      if (--t.steps_left != 0) return;
      this_thread_waits = {};
      this_thread_holds = {};
      t.is_stopped = true;
      t.stop();
    };
    this_thread_waits.arg = this_thread_holds.arg = this;
    this_thread_waits.pass = this_thread_holds.call = pass;
    SCUTE_OKAY(tx.commit());
    this_thread_waits = {};
    this_thread_holds = {};
    stop();
  }
  // The other one may wait for what this one holds.
  void stop() {
    is_there = true;
    static_cast<void>(becomes_true([&] { return goes_on.load(); }));
    static_cast<void>(becomes_true([&] { return is_resolved || sleeps(::getpid()); }));
  }
  // At the nth look of this thread from now on.
  void write_at(unsigned nth, unsigned mth, uint64_t i) {
    is_there = is_resolved = goes_on = false;
    is_stopped = false;
    looks_left = nth;
    steps_left = mth;
    written = i;
    this_thread_waits.arg = this;
    this_thread_waits.pass = [](void* arg) {
      auto& t = *static_cast<resolved_meanwhile*>(arg);
      if (--t.looks_left != 0) return;
      this_thread_waits = {};
      t.writer.emplace([&t] { t.write(t.written); });
      wait_until([&] { return t.is_there || t.writer->waits(); });
      t.goes_on = true;
    };
  }

  pool_file f;
  std::vector<scute_oid> oids;
  bytes image;
  std::optional<waiting_thread> writer;
  std::atomic<bool> is_there{false}, is_resolved{false}, goes_on{false}, is_stopped{false};
  unsigned looks_left = 0, steps_left = 0;
  uint64_t written = 0;
};

// False if the resolving thread does not look that often.
bool resolved_meanwhile::interleave(unsigned nth, unsigned mth) {
  constexpr uint64_t i = 0;
  come_up(f, image);
  write_at(nth, mth, i);
  {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY_E(scute_tx_open(tx, oids[objects / 2], &p));
  }
  const bool over = this_thread_waits.pass != nullptr;
  this_thread_waits = {};
  is_resolved = true;
  writer.reset();
  // (So much old parity is reported as damage.)
  uint64_t lost = 0;
  const auto count = [](void* arg, const scute_event* e) {
    *static_cast<uint64_t*>(arg) += e->kind == SCUTE_EVENT_OBJECT ? 1 : 0;
  };
  SCUTE_OKAY_E(scute_events(f.pool, count, &lost));
  EXPECT_EQ(lost, 0u);
  for (uint64_t k = 0; k < objects; ++k) {
    const uint64_t key = (is_decided() ? 100 : 0) + k;
    EXPECT_TRUE(f.read(oids[k]) == pattern(k == i && !over ? 200 + i : key, size))
        << "object " << k << ": " << scute_errormsg();
  }
  SCUTE_OKAY_E(scute_recovery_wait(f, nullptr, nullptr));
  f.expect_sound();
  return !over;
}

TEST_P(resolved_meanwhile, BlockKeepsWhatIsWrittenInPlace) {
  bool stopped = true;
  for (unsigned mth = 1; stopped; ++mth) {
    ASSERT_LT(mth, 20u);
    stopped = false;
    unsigned nth = 1;
    for (; interleave(nth, mth); ++nth) {
      stopped = stopped || is_stopped;
      ASSERT_FALSE(HasFailure()) << "look " << nth << ", step " << mth;
      ASSERT_LT(nth, 200u);
    }
    EXPECT_GT(nth, objects / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Transactions, resolved_meanwhile, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Decided" : "Undecided"; });

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Two threads and damage: one mends what another one has just found damaged, or finds something half written, and
// takes it for damage. On the planted core, whose threads can be switched where they look without a lock (switch_point()).
#include <gtest/gtest.h>

#include <thread>

#include "base/waiting.hpp"
#include "mend/repair.hpp"
#include "pool/library_call.hpp"
#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr size_t small = 500, several = 9000;

struct kind {
  scute_engine engine;
  size_t size;
};

class mended_meanwhile : public testing::TestWithParam<kind> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib);
    o.engine = GetParam().engine;
    o.protection = SCUTE_PROTECT_MLPC;
    o.rows = 4;
    f.create(o);
    s = &f.in().s;
    f.in().idle.stop();
    oid = f.alloc(pattern(1, GetParam().size));
    f.in().drain();
    object = f.in().heap->zones().locate(f.offset_of(oid));
  }
  void TearDown() override { this_thread_waits = {}; }

  // The tag of the first header is another one, until the nth look from now on: then another thread mends it.
  void strike_and_mend_at(unsigned nth) {
    f.raw(object.header + offsetof(format::fragment_header, tag))[0] ^= std::byte{0x5a};
    looks_left = nth;
    this_thread_waits.arg = this;
    this_thread_waits.pass = [](void* arg) {
      auto& t = *static_cast<mended_meanwhile*>(arg);
      if (--t.looks_left != 0) return;
      this_thread_waits = {};
      std::thread([&t] {
        const pool::library_call within;
        mend::repair(*t.s, nullptr, t.object.fragment(0), "object");
      }).join();
    };
  }
  // Whatever look it is that the other thread comes in between.
  template <typename Change>
  void commit_beside_a_mender(Change&& change) {
    bytes content = pattern(1, GetParam().size);
    for (unsigned nth = 1;; ++nth) {
      ASSERT_LT(nth, 100u);
      transaction tx(f);
      change(tx, nth, content);
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_EQ(SCUTE_OK, tx.commit()) << nth << ": " << scute_errormsg();
      const bool over = this_thread_waits.pass != nullptr;
      this_thread_waits = {};
      ASSERT_TRUE(f.read(oid) == content) << nth;
      f.expect_sound();
      if (over) break;
      ++interleavings;
    }
    EXPECT_GT(interleavings, 0u);
    f.reopen();
    EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
  }

  known_pool f;
  pool::state* s = nullptr;
  scute_oid oid = 0;
  heap::object object;
  unsigned looks_left = 0, interleavings = 0;
};

// (CONFLICT-1)
TEST_P(mended_meanwhile, commit_of_a_copy) {
  commit_beside_a_mender([this](transaction& tx, unsigned nth, bytes& content) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    content = pattern(10 + nth, content.size());
    std::memcpy(p, content.data(), content.size());
    strike_and_mend_at(nth);
  });
}

TEST_P(mended_meanwhile, commit_of_a_part) {
  commit_beside_a_mender([this](transaction& tx, unsigned nth, bytes& content) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, oid, 20, 100, &p));
    const bytes part = pattern(10 + nth, 100);
    std::copy(part.begin(), part.end(), content.begin() + 20);
    std::memcpy(p, part.data(), part.size());
    strike_and_mend_at(nth);
  });
}

// The same bytes as before, in a transaction that has something else to write as well.
TEST_P(mended_meanwhile, commit_of_what_it_is_already) {
  const scute_oid other = f.alloc(pattern(3, 100));
  commit_beside_a_mender([this, other](transaction& tx, unsigned nth, bytes& content) {
    void *p = nullptr, *q = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    SCUTE_OKAY(scute_tx_open(tx, other, &q));
    std::memcpy(p, content.data(), content.size());
    std::memset(q, static_cast<int>(nth), 100);
    strike_and_mend_at(nth);
  });
}

// A commit in the middle of its work: what it writes and the parity are in step, and no checksum accepts them. A repair
// that was begun for some damage before lets it end (REPAIR-6).
TEST_P(mended_meanwhile, repair_beside_a_commit_that_pauses) {
  pool::lane& l = s->lanes.back();
  const uint64_t payload = object.fragment(0).payload;
  const pool::cell c = pool::cell_of(s->geo, payload);
  const auto write = [&] {
    for (uint64_t i = 0; i < 40; ++i) {
      f.raw(payload + i)[0] ^= std::byte{0x33};
      f.raw(pool::parity_offset(s->geo, c.zone, c.column) + i)[0] ^= std::byte{0x33};
    }
  };
  write();
  l.begun.store(l.applied.load() + 1);
  std::function<void()> go_on = [&] {
    write();
    l.applied.store(l.begun.load());
  };
  this_thread_waits.arg = &go_on;
  this_thread_waits.call = [](void* arg) {
    auto* then = static_cast<std::function<void()>*>(arg);
    this_thread_waits = {};
    (*then)();
  };
  {
    const pool::library_call within;
    EXPECT_NO_THROW(mend::repair(*s, nullptr, object.fragment(0), "object"));
  }
  EXPECT_EQ(this_thread_waits.call, nullptr) << "nobody waited for the commit";
  EXPECT_EQ(s->lost.load(), 0u);
  EXPECT_TRUE(f.read(oid) == pattern(1, GetParam().size));
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Engines, mended_meanwhile,
                         testing::Values(kind{SCUTE_ENGINE_REDO, small},
                                         kind{SCUTE_ENGINE_REDO, several},
                                         kind{SCUTE_ENGINE_SPEC, small},
                                         kind{SCUTE_ENGINE_SPEC, several}));

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// The writes of a log of whole objects: every changed object, once, in one batch, and no more lines
// than that takes.
#include "workloads/stores/append_store.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "core/medium/persist.hpp"
#include "workloads/maps/locked_hashmap.hpp"
#include "workloads/maps/paper_sizes.hpp"

namespace scute::test {
namespace {

using workloads::append_medium;
using workloads::append_store;

struct object {
  uint64_t words[32];
};
struct small {
  uint64_t word;
};
struct root {
  append_store::ptr<object> first;
  append_store::ptr<small> second;
};

class append : public ::testing::TestWithParam<workloads::append_ways> {
 protected:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> log_ = std::vector<line>(8 << 10);
  append_medium medium_{core::medium::persist().copy_nt, core::medium::persist().flush,
                        core::medium::persist().fence};
  append_store store_{{log_.front().bytes, log_.size() * 64}, 128 << 10, medium_, GetParam()};

  bool there(uint64_t word) const {
    for (const line& l : log_)
      for (size_t i = 0; i < 64; i += 8)
        if (std::memcmp(&l.bytes[i], &word, 8) == 0) return true;
    return false;
  }
};

TEST_P(append, writes_what_changed_once) {
  const auto at = store_.root<root>();
  store_.transact([&](append_store::tx& t) {
    t.edit(at, &root::first) = t.make<object>().at;
    t.edit(at, &root::second) = t.make<small>().at;
  });
  const auto before = store_.total();
  store_.transact([&](append_store::tx& t) {
    const auto first = t.get(at).first;
    t.edit(first, &object::words, 3) = 0x1234567812345678;
    t.edit(first, &object::words, 4) = 0x8765432187654321;
    t.open(first).words[31] = 0x1111222233334444;
  });
  const auto after = store_.total();
  EXPECT_EQ(after.fences - before.fences, 1U);
  // POW files, 256 bytes: 32 + 16 + 256. A line more where the batch begins in the middle of one,
  // or all are padded.
  EXPECT_EQ(after.bytes - before.bytes, GetParam().padded ? 64U + 320 : 304U);
  EXPECT_LE(after.lines - before.lines, 6U);
  EXPECT_GE(after.lines - before.lines, 5U);
  EXPECT_TRUE(there(0x1234567812345678) && there(0x8765432187654321) && there(0x1111222233334444));
  // A destroyed object costs a head, an unchanged one nothing.
  store_.transact([&](append_store::tx& t) { t.destroy(t.get(at).first); });
  EXPECT_EQ(store_.total().bytes - after.bytes, 48U);
  store_.transact([](append_store::tx&) {});
  EXPECT_EQ(store_.total().fences - after.fences, 1U);
  store_.transact([&](append_store::tx& t) { t.destroy(t.get(at).second); });
}

TEST_P(append, each_thread_has_a_lane_that_restarts) {
  using map = workloads::locked_hashmap<append_store, workloads::payload<256>>;
  const auto at = store_.root<map::root>();
  map m(store_, at);
  {
    std::vector<std::jthread> crew;
    for (uint64_t t = 0; t < 2; ++t)
      crew.emplace_back([&, t] {
        for (uint64_t i = 0; i < 2000; ++i) m.insert(2 * i + t, map::value::of(i));
      });
  }
  EXPECT_EQ(m.check(), "");
  for (uint64_t i = 0; i < 2000; ++i)
    EXPECT_TRUE(m.read(2 * i, [&](const auto& v) { EXPECT_EQ(v.number, i); }));
  EXPECT_GT(store_.total().bytes, 4 * (128U << 10));
  store_.transact([&](append_store::tx& t) { map::map(at).clear(t); });
}

TEST_P(append, refuses_a_batch_that_is_too_large) {
  EXPECT_THROW(store_.transact([&](append_store::tx& t) {
    std::vector<append_store::ptr<object>> all;
    for (int i = 0; i < 600; ++i) all.push_back(t.make<object>().at);
    for (const auto p : all) t.destroy(p);  // a head for each, and then the objects of the next
    for (int i = 0; i < 9000; ++i) t.destroy(t.make<small>().at);
  }),
               std::bad_alloc);
}

INSTANTIATE_TEST_SUITE_P(ways, append,
                         ::testing::Values(workloads::append_ways{false, false},
                                           workloads::append_ways{false, true},
                                           workloads::append_ways{true, false},
                                           workloads::append_ways{true, true}));

}  // namespace
}  // namespace scute::test

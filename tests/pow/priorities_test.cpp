// SPDX-License-Identifier: BSD-3-Clause
// Threads of two real-time priorities on one processor: no thread waits for ever for a thread
// that cannot run meanwhile.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>

#include "files.hpp"
#include "support/priorities.hpp"

namespace scute::test {
namespace {

using kind = std::tuple<scute_pow_protection, unsigned>;
class pow_priorities : public ::testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(
    , pow_priorities,
    ::testing::Combine(::testing::Values(SCUTE_POW_NONE, SCUTE_POW_SEALED, SCUTE_POW_ALWAYS),
                       ::testing::Values(0U, unsigned{SCUTE_POW_WATCH_LOCKS})));

TEST_P(pow_priorities, OnOneProcessor) {
  struct parts {
    scratch dir{scratch::memory};
    std::unique_ptr<pow::store> db;
    // A map and its lock for each thread: what they have in common is the store.
    std::unique_ptr<pow::map<int, std::string>> maps[4];
    std::mutex locks[4];
  };
  std::unique_ptr<parts> p;
  const auto prepare = [&] {
    p = std::make_unique<parts>();
    pow::options o;
    o.medium = SCUTE_MEDIUM_RAM;
    o.protection = std::get<0>(GetParam());
    o.flags = std::get<1>(GetParam());
    o.segment_size = 9 * 4096;
    o.size = o.segment_size * 8;
    o.max_size = 8 << 20;
    o.threads = 2;  // fewer than there are
    p->db = std::make_unique<pow::store>(p->dir.file("store"), o);
    for (unsigned i = 0; i < 4; ++i)
      p->maps[i] = std::make_unique<pow::map<int, std::string>>(*p->db, "map " + std::to_string(i));
  };
  const auto body = [&](unsigned thread, unsigned round) {
    auto s = p->db->begin(round % 3 == 2 ? pow::later : pow::strict, p->locks[thread]);
    const int key = static_cast<int>(round % 30);
    if (round % 7 == 6)
      p->maps[thread]->erase(key);
    else
      p->maps[thread]->edit(key) =
          std::string(500 + round % 1500, static_cast<char>('a' + round % 26));
    s.commit();
    if (round % 50 == 49) p->db->sync();
  };
  with_two_priorities(prepare, body, [&] {
    EXPECT_EQ(0U, p->db->check(SCUTE_POW_COMPARE));
    p.reset();
  });
}

}  // namespace
}  // namespace scute::test

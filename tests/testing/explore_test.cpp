// SPDX-License-Identifier: BSD-3-Clause
// explore() as a user of the library has it: sound structures are sound, and bugs are caught, each
// with a story that can be repeated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <scute/scute.hpp>
#include <scute/testing.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using scute::testing::exploration;
using scute::testing::explore_options;
using scute::testing::pool_kind;
using scute::testing::scenario;
using scute::testing::small_pool;
using scute::testing::stage;
using ::testing::HasSubstr;
using ::testing::Not;

struct pair_of {
  uint64_t a, b;
};
struct node {
  uint64_t value;
};
struct list_of_one {
  scute::ptr<node> head;
};

std::string pair_text(scute::pool& p) {
  const auto root = p.root<pair_of>();
  const pair_of& v = p.get_verified(root);
  return std::to_string(v.a) + "," + std::to_string(v.b);
}

void set_pair(scute::pool& p, uint64_t a, uint64_t b) {
  const auto root = p.root<pair_of>();
  p.transact([&](scute::tx& tx) { tx.open(root) = {a, b}; });
}

scenario pairs(const char* name, pool_kind level = {}) {
  scenario s(name, small_pool(level));
  s.setup([](scute::pool& p) { p.root<pair_of>(); }).observe(pair_text);
  return s;
}

// A step that takes two transactions where one would be right.
scenario torn_pair() {
  return pairs("torn pair")
      .step("set both to 1", [](scute::pool& p) { set_pair(p, 1, 1); })
      .step("set both to 2", [](scute::pool& p) {
        const auto root = p.root<pair_of>();
        p.transact([&](scute::tx& tx) { tx.edit(root, &pair_of::a) = 2; });
        p.transact([&](scute::tx& tx) { tx.edit(root, &pair_of::b) = 2; });
      });
}

explore_options plain(uint64_t states = 20000) {
  explore_options o;
  o.states = states;
  o.crash_recovery = false;
  o.faults = false;
  return o;
}

// The line of a story that begins with this.
std::string line_of(const std::string& story, const std::string& begin) {
  const auto at = story.find(begin);
  return at == story.npos ? "" : story.substr(at, story.find('\n', at) - at);
}
std::string state_in(const std::string& story) {
  const std::string line = line_of(story, "scenario \"");
  const auto at = line.find("state ");
  return at == line.npos ? "" : line.substr(at + 6);
}
// The violation of a story, and the values that were read.
std::string wrong_in(const std::string& story) {
  const auto at = story.find("violation:");
  return at == story.npos ? "" : story.substr(at, story.find("repeat: ", at) - at);
}

// ---- sound structures ---------------------------------------------------------------------------

TEST(Explore, EveryImageOfATransaction) {
  const auto s =
      pairs("pair", SCUTE_PROTECT_NONE).step("set", [](scute::pool& p) { set_pair(p, 1, 2); });
  const exploration r = explore(s, plain());
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_EQ(r.story, "");
  EXPECT_TRUE(r.complete);
  EXPECT_GT(r.states, 256u);
  EXPECT_LT(r.states, 20000u);
  EXPECT_GE(r.crash_points, 4u);
  EXPECT_EQ(r.interleavings, 1u);
  EXPECT_EQ(r.recrashed, 0u);
  EXPECT_EQ(r.killed, 0u);
  EXPECT_EQ(r.damaged, 0u);
  EXPECT_GT(r.seconds, 0);
}

TEST(Explore, NotCompleteIfCutShort) {
  const auto s =
      pairs("pair", SCUTE_PROTECT_NONE).step("set", [](scute::pool& p) { set_pair(p, 1, 2); });
  const exploration r = explore(s, plain(100));
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_FALSE(r.complete);
  EXPECT_EQ(r.states, 100u);
}

TEST(Explore, WithCrashedRecoveriesAndFaults) {
  auto s = pairs("pair");
  for (uint64_t i = 1; i < 5; ++i)
    s.step("set to " + std::to_string(i), [i](scute::pool& p) { set_pair(p, i, i * 2); });
  explore_options how;
  how.states = 3000;
  const exploration r = explore(s, how);
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_FALSE(r.complete);
  EXPECT_GE(r.states, 3000u);
  EXPECT_GT(r.recrashed, 300u);
  EXPECT_GT(r.killed, 100u);
  EXPECT_GT(r.damaged, 150u);
}

TEST(Explore, EveryProtectionWithAndWithoutDurableCaches) {
  for (const pool_kind level :
       {pool_kind(SCUTE_PROTECT_NONE), pool_kind(SCUTE_PROTECT_ML), pool_kind(SCUTE_PROTECT_MLP),
        pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
        pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE)})
    for (const bool eadr : {false, true}) {
      auto s = pairs("pair", level);
      s.step("set", [](scute::pool& p) { set_pair(p, 1, 2); });
      s.step("set a in place", [](scute::pool& p) {
        const auto root = p.root<pair_of>();
        p.transact([&](scute::tx& tx) { tx.in_place(root, &pair_of::a) = 3; });
      });
      s.step("change in place, and abort", [](scute::pool& p) {
        const auto root = p.root<pair_of>();
        try {
          p.transact([&](scute::tx& tx) {
            tx.in_place(root) = {8, 9};
            throw 1;
          });
        } catch (int) {
        }
      });
      explore_options how;
      how.states = 1500;
      how.eadr = eadr;
      const exploration r = explore(s, how);
      EXPECT_TRUE(r.sound) << level.protection << level.engine << (eadr ? " eADR " : " ")
                           << r.story;
      EXPECT_GE(r.states, 1000u);
    }
}

TEST(Explore, LanesInTurnAndAProbe) {
  int probes = 0;
  auto s = pairs("pair");
  for (uint64_t i = 1; i < 5; ++i) s.step("set", [i](scute::pool& p) { set_pair(p, i, i); });
  s.lanes_in_turn().probe([&](scute::pool& p) {
    ++probes;
    pair_text(p);
  });
  const exploration r = explore(s, plain(500));
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_EQ(static_cast<uint64_t>(probes), r.states);
}

// ---- bugs ---------------------------------------------------------------------------------------

TEST(Explore, TwoTransactionsInOneStep) {
  explore_options how;
  how.repeat_command = "repeat-it --state %s";
  const exploration r = explore(torn_pair(), how);
  ASSERT_FALSE(r.sound);
  // The steps done and the step under way; the values read and the values allowed.
  EXPECT_THAT(r.story, HasSubstr("scenario \"torn pair\""));
  EXPECT_THAT(r.story, HasSubstr("1. set both to 1\n"));
  EXPECT_THAT(r.story, HasSubstr("2. set both to 2  (under way)"));
  EXPECT_THAT(wrong_in(r.story), HasSubstr("reads\n      2,1\n"));
  EXPECT_THAT(wrong_in(r.story), HasSubstr("allowed is\n      1,1\n      2,2"));
  EXPECT_EQ(line_of(r.story, "repeat: "), "repeat: repeat-it --state " + state_in(r.story));

  // The state by its name, alone.
  explore_options again;
  again.only = state_in(r.story);
  const exploration one = explore(torn_pair(), again);
  EXPECT_FALSE(one.sound);
  EXPECT_EQ(wrong_in(one.story), wrong_in(r.story));
  EXPECT_EQ(state_in(one.story), state_in(r.story));
  EXPECT_LE(one.states, 4u);
}

// The name of a sound state is sound, also next to a failing one.
TEST(Explore, OnlyChecksTheNamedState) {
  const exploration r = explore(torn_pair(), plain());
  ASSERT_FALSE(r.sound);
  explore_options how = plain();
  how.only = "s1.i0.m0.v0";
  const exploration one = explore(torn_pair(), how);
  EXPECT_TRUE(one.sound) << one.story;
  EXPECT_EQ(one.states, 1u);
}

// The story of a torn structure names the few pieces that matter, not all that were pending.
TEST(Explore, StoriesAreSmall) {
  const exploration r = explore(torn_pair());
  ASSERT_FALSE(r.sound);
  EXPECT_LT(std::count(r.story.begin(), r.story.end(), '\n'), 40) << r.story;
  EXPECT_THAT(r.story, Not(HasSubstr("damaged")));
  EXPECT_THAT(r.story, Not(HasSubstr("failed again")));
}

// Of all that was pending, one half matters. The stores of a transaction that has nothing to do
// with it are either all present or all lost.
TEST(Explore, StoriesNameWhatMatters) {
  struct halves {
    uint64_t left, between[15], right;
  };
  scenario s("halves", small_pool(SCUTE_PROTECT_NONE));
  s.setup([](scute::pool& p) { p.root<halves>(); })
      .step("change both halves",
            [](scute::pool& p) {
              auto& v = const_cast<halves&>(p.get(p.root<halves>()));
              v.left = v.right = 1;
              p.transact([](scute::tx& tx) { tx.make<node>(); });
            })
      .observe([](scute::pool& p) {
        const auto& v = p.get(p.root<halves>());
        return std::to_string(v.left) + "|" + std::to_string(v.right);
      });
  const exploration r = explore(s);
  ASSERT_FALSE(r.sound);
  unsigned durable = 0, all = 0;
  const std::string line = line_of(r.story, "Of the stores that no fence had completed, ");
  ASSERT_EQ(2, std::sscanf(line.c_str(), "Of the stores that no fence had completed, %u of %u",
                           &durable, &all));
  EXPECT_GT(all, 5u);
  EXPECT_EQ(std::min(durable, all - durable), 1u) << r.story;
}

TEST(Explore, PublishedBeforeItIsWritten) {
  scenario s("list");
  s.setup([](scute::pool& p) { p.root<list_of_one>(); })
      .step("push 7",
            [](scute::pool& p) {
              const auto root = p.root<list_of_one>();
              scute::ptr<node> n;
              p.transact([&](scute::tx& tx) { tx.open(root).head = n = tx.make<node>(); });
              p.transact([&](scute::tx& tx) { tx.open(n).value = 7; });
            })
      .observe([](scute::pool& p) -> std::string {
        const auto head = p.get_verified(p.root<list_of_one>()).head;
        return head ? "value " + std::to_string(p.get_verified(head).value) : "empty";
      });
  const exploration r = explore(s);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("1. push 7  (under way)"));
  EXPECT_THAT(wrong_in(r.story), HasSubstr("value 0"));
  EXPECT_THAT(wrong_in(r.story), HasSubstr("allowed is\n      empty\n      value 7"));
}

// A store through the address that a reader gets: nothing makes it durable, and no checksum knows
// of it. (scute_root() would: it verifies the root, and brings the old bytes back. So does every
// read of a log-free pool that is not resolved yet.)
TEST(Explore, StoreOutsideOfATransaction) {
  for (const pool_kind level :
       {pool_kind(SCUTE_PROTECT_NONE), pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
        pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE)}) {
    scute::ptr<pair_of> root;
    scenario s("raw store", small_pool(level));
    s.setup([&](scute::pool& p) { root = p.root<pair_of>(); })
        .step("store directly", [&](scute::pool& p) { const_cast<pair_of&>(p.get(root)).a = 1; })
        .observe([&](scute::pool& p) { return "a is " + std::to_string(p.get(root).a); });
    const exploration r = explore(s);
    ASSERT_FALSE(r.sound) << level.protection;
    EXPECT_THAT(r.story,
                HasSubstr("1. store directly\nthen the power failed, after the last step"));
    EXPECT_THAT(r.story, HasSubstr("\n    chunk 0 +"));
    // It is lost; or it is not, and then it does not fit the checksum.
    EXPECT_THAT(wrong_in(r.story),
                level.engine != SCUTE_ENGINE_REDO
                    ? HasSubstr("reads\n      a is 0\n    allowed is\n      a is 1")
                    : HasSubstr("check finds the pool damaged"));
  }
}

// With durable caches they become durable one by one, not both or none.
TEST(Explore, StoresOutsideOfATransactionWithDurableCaches) {
  auto s = pairs("raw stores", SCUTE_PROTECT_NONE);
  s.step("store a, b, and count", [](scute::pool& p) {
    auto& v = const_cast<pair_of&>(p.get(p.root<pair_of>()));
    v.a = 1;
    v.b = 1;
    p.transact([](scute::tx& tx) { tx.make<node>(); });
  });
  explore_options how = plain();
  how.eadr = true;
  const exploration r = explore(s, how);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("(under way)"));
  EXPECT_THAT(r.story, HasSubstr("1 of 2 pieces were durable"));
  EXPECT_THAT(wrong_in(r.story), HasSubstr("allowed is\n      0,0\n      1,1"));
}

TEST(Explore, AnObserverThatThrows) {
  auto s = pairs("throwing observer", SCUTE_PROTECT_NONE);
  s.step("set a, then b", [](scute::pool& p) {
     set_pair(p, 1, 0);
     set_pair(p, 1, 1);
   }).observe([](scute::pool& p) {
    const pair_of& v = p.get(p.root<pair_of>());
    if (v.a != v.b) throw std::runtime_error("a and b differ");
    return std::to_string(v.a);
  });
  const exploration r = explore(s);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(wrong_in(r.story), HasSubstr("a and b differ"));
}

TEST(Explore, AProbeThatFails) {
  auto s = pairs("probe");
  s.step("set", [](scute::pool& p) { set_pair(p, 1, 1); }).probe([](scute::pool& p) {
    if (pair_text(p) == "1,1") throw std::runtime_error("the probe dislikes 1,1");
  });
  const exploration r = explore(s);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(wrong_in(r.story), HasSubstr("the probe dislikes 1,1"));
}

TEST(Explore, AStepThatThrows) {
  auto s = pairs("throwing step");
  s.step("set", [](scute::pool& p) { set_pair(p, 1, 1); }).step("break", [](scute::pool&) {
    throw std::runtime_error("it is broken");
  });
  const exploration r = explore(s);
  EXPECT_FALSE(r.sound);
  EXPECT_EQ(r.states, 0u);
  EXPECT_THAT(r.story, HasSubstr("throwing step"));
  EXPECT_THAT(r.story, HasSubstr("without any power failure, step \"break\" threw: it is broken"));
}

TEST(Explore, AFullPool) {
  const auto make = [] {
    scenario s("full", small_pool(SCUTE_PROTECT_NONE));
    s.setup([](scute::pool& p) { p.root<pair_of>(); })
        .step("allocate too much",
              [](scute::pool& p) {
                p.transact([&](scute::tx& tx) {
                  for (int i = 0; i < 100; ++i) tx.allocate(8000, 1);
                });
              })
        .observe(pair_text);
    return s;
  };
  exploration r = explore(make(), plain(100));
  EXPECT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("step \"allocate too much\" threw"));
  r = explore(make().may_run_full(), plain(100));
  EXPECT_TRUE(r.sound) << r.story;
}

// ---- how it is run ------------------------------------------------------------------------------

TEST(Explore, SameSeedSameExploration) {
  const auto s = [] {
    auto p = pairs("pair");
    for (uint64_t i = 1; i < 4; ++i)
      p.step("set", [i](scute::pool& pool) { set_pair(pool, i, i); });
    return p;
  };
  explore_options how;
  how.states = 500;
  how.seed = 42;
  const exploration one = explore(s(), how), two = explore(s(), how);
  EXPECT_TRUE(one.sound) << one.story;
  EXPECT_EQ(one.states, two.states);
  EXPECT_EQ(one.recrashed, two.recrashed);
  EXPECT_EQ(one.damaged, two.damaged);
  EXPECT_EQ(one.crash_points, two.crash_points);
  how.seed = 43;
  const exploration other = explore(s(), how);
  EXPECT_TRUE(one.recrashed != other.recrashed || one.damaged != other.damaged);

  how.seed = 42;
  const exploration torn = explore(torn_pair(), how), again = explore(torn_pair(), how);
  EXPECT_FALSE(torn.sound);
  EXPECT_EQ(torn.story, again.story);
}

TEST(Explore, ReportsItsProgress) {
  std::vector<scute::testing::progress> reported;
  explore_options how = plain(3000);
  how.progress = [&](const scute::testing::progress& p) { reported.push_back(p); };
  auto s = pairs("pair", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});  // log-free has fewer states
  s.step("set", [](scute::pool& p) { set_pair(p, 1, 1); });
  const exploration r = explore(s, how);
  EXPECT_TRUE(r.sound) << r.story;
  ASSERT_GE(reported.size(), 3u);
  for (size_t i = 0; i < reported.size(); ++i) {
    EXPECT_EQ(reported[i].states_wanted, 3000u);
    EXPECT_LE(reported[i].states, r.states);
    if (i != 0) {
      EXPECT_GT(reported[i].states, reported[i - 1].states);
    }
  }
}

TEST(Explore, NamesThatAreNone) {
  for (const char* name : {"s1", "x", "s1.i0.m0.v0 ", "s1.i0.m0.v", "1.0.0.0", "s1.i7.m0.v0",
                           "s1.i0.m99999.v0", "s1.i0.m0.v99999"}) {
    explore_options how;
    how.only = name;
    EXPECT_THROW(explore(torn_pair(), how), std::invalid_argument) << name;
  }
}

// Scenarios that are made from seeds: one after the other, and by name.
TEST(Explore, ScenariosFromSeeds) {
  std::map<uint64_t, int> made;
  const auto make = [&](uint64_t seed) {
    ++made[seed];
    return seed < 12 ? pairs("sound").step(
                           "set", [seed](scute::pool& p) { set_pair(p, seed, 1); })
                     : torn_pair();
  };
  explore_options how;
  how.seed = 10;
  how.states = 10000;
  const exploration r = explore(make, how);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(made,
              ::testing::ElementsAre(::testing::Key(10), ::testing::Key(11), ::testing::Key(12)));
  EXPECT_THAT(state_in(r.story), ::testing::StartsWith("s12."));
  made.clear();
  how.only = state_in(r.story);
  EXPECT_EQ(wrong_in(explore(make, how).story), wrong_in(r.story));
  EXPECT_THAT(made, ::testing::ElementsAre(::testing::Key(12)));
}

}  // namespace

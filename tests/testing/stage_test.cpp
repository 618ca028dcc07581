// SPDX-License-Identifier: BSD-3-Clause
// Scenarios that do more than change a pool, and scenarios with several threads, as a user of the
// library has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <scute/scute.hpp>
#include <scute/testing.hpp>

#include <algorithm>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using scute::testing::exploration;
using scute::testing::explore_options;
using scute::testing::scenario;
using scute::testing::small_pool;
using scute::testing::stage;
using ::testing::HasSubstr;

struct counter {
  uint64_t value, filler[31];
};

std::string counter_text(scute::pool& p) {
  return std::to_string(p.get_verified(p.root<counter>()).value);
}
void count(scute::pool& p) {
  const auto root = p.root<counter>();
  p.transact([&](scute::tx& tx) { ++tx.open(root).value; });
}
scenario counting(const char* name, scute_protection level = SCUTE_PROTECT_MLPC) {
  scenario s(name, small_pool(level));
  s.setup([](scute::pool& p) { p.root<counter>(); }).observe(counter_text);
  return s;
}
explore_options states(uint64_t n) {
  explore_options o;
  o.states = n;
  return o;
}

// ---- stages -------------------------------------------------------------------------------------

TEST(Stage, PoolThatIsMadeByAStep) {
  scenario s("create");
  s.without_pool()
      .step_on_stage("create",
                     [](const stage& st) {
                       EXPECT_FALSE(st.is_open());
                       EXPECT_THROW(st.pool(), std::logic_error);
                       st.create();
                       EXPECT_TRUE(st.is_open());
                     })
      .step("count", count)
      .step("count", count)
      .observe(counter_text);
  const exploration r = explore(s, states(3000));
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_GE(r.states, 3000u);
  EXPECT_GE(r.crash_points, 6u);
}

// The bug: what the step has created is only finished by the next one.
TEST(Stage, PoolThatIsMadeByHalves) {
  scenario s("create by halves");
  s.without_pool()
      .step_on_stage("create and count",
                     [](const stage& st) {
                       st.create();
                       count(st.pool());
                     })
      .observe(counter_text);
  const exploration r = explore(s, states(3000));
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("1. create and count  (under way)"));
}

TEST(Stage, CloseAndOpen) {
  auto s = counting("close");
  s.step("count", count)
      .step_on_stage("close",
                     [](const stage& st) {
                       st.close();
                       EXPECT_FALSE(st.is_open());
                       EXPECT_THROW(st.close(), std::logic_error);
                     })
      .step_on_stage("open",
                     [](const stage& st) {
                       st.open();
                       EXPECT_THROW(st.open(), std::logic_error);
                       EXPECT_THROW(st.create(), std::logic_error);
                     })
      .step("count", count);
  const exploration r = explore(s, states(3000));
  EXPECT_TRUE(r.sound) << r.story;
}

// More openings than there are bits in a word: each has writers of its own.
TEST(Stage, ManyOpenings) {
  auto s = counting("many openings", SCUTE_PROTECT_NONE);
  for (int i = 0; i < 80; ++i)
    s.step_on_stage("close, open and count", [](const stage& st) {
      st.close();
      st.open();
      count(st.pool());
    });
  const exploration r = explore(s, states(1000));
  EXPECT_TRUE(r.sound) << r.story;
}

// The process dies; its stores are still there for the next process.
TEST(Stage, ProcessDeath) {
  auto s = counting("death");
  s.step("count", count)
      .step_on_stage("die within a transaction, and come back",
                     [](const stage& st) {
                       const auto root = st.pool().root<counter>();
                       scute_tx* tx = nullptr;
                       void* bytes = nullptr;
                       scute::detail::check(scute_tx_begin(st.pool().native_handle(), &tx));
                       scute::detail::check(scute_tx_inplace(tx, root.oid(), 0, 8, &bytes));
                       *static_cast<uint64_t*>(bytes) = 77;
                       scute_tx_abort(tx);
                       st.abandon();
                       EXPECT_FALSE(st.is_open());
                       st.open();
                       EXPECT_EQ(counter_text(st.pool()), "1");
                     })
      .step("count", count);
  const exploration r = explore(s, states(3000));
  EXPECT_TRUE(r.sound) << r.story;
}

scenario damaged(scute_protection level) {
  auto s = counting("damage", level);
  s.step("count", count)
      .step_on_stage("damage the counter",
                     [](const stage& st) {
                       const auto* at = reinterpret_cast<const std::byte*>(
                           &st.pool().get(st.pool().root<counter>()));
                       const auto offset = static_cast<uint64_t>(at - st.bytes().data());
                       const std::vector<std::byte> noise(100, std::byte{0x5c});
                       st.damage(offset + 8, noise);
                       EXPECT_EQ(st.bytes()[offset + 8], std::byte{0x5c});
                       EXPECT_THROW(st.damage(st.bytes().size() - 1, noise), std::out_of_range);
                     })
      .step("count, which repairs it", count)
      .observe([](scute::pool& p) {
        const counter& c = p.get_verified(p.root<counter>());
        return std::to_string(c.value) + (c.filler[5] == 0 ? "" : " and noise");
      });
  return s;
}

TEST(Stage, DamageIsRepaired) {
  const exploration r = explore(damaged(SCUTE_PROTECT_MLPC), states(3000));
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_EQ(r.damaged, 0u);  // by faults of the explorer's: one is enough
}

// Without redundancy the noise stays. The observer reads it before and after. So it is sound
// except at the moment of the damage, which no step of the program has made.
TEST(Stage, DamageIsSeenWithoutRedundancy) {
  auto s = damaged(SCUTE_PROTECT_NONE);
  s.observe([](scute::pool& p) {
    const counter& c = p.get(p.root<counter>());
    if (c.filler[5] != 0) throw std::runtime_error("noise");
    return std::to_string(c.value);
  });
  const exploration r = explore(s, states(3000));
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("noise"));
}

// ---- threads ------------------------------------------------------------------------------------

struct ticket {
  uint64_t id, work;
};
struct office {
  scute::ptr<ticket> of[2];
};

scute::ptr<ticket> ticket_of(scute::pool& p, int t) {
  return p.get(p.root<office>()).of[t];
}
uint64_t id_of(scute::pool& p, int t) {
  return p.get(ticket_of(p, t)).id;
}

// Two threads, each with a ticket; `take` gives thread t's ticket its number.
scenario offices(const char* name, const std::function<void(scute::pool&, int t)>& take) {
  scenario s(name);
  s.setup([](scute::pool& p) {
    const auto root = p.root<office>();
    p.transact([&](scute::tx& tx) {
      for (auto& one : tx.open(root).of) one = tx.make<ticket>();
    });
  });
  for (int t = 0; t < 2; ++t)
    s.in_thread(static_cast<size_t>(t))
        .step("take a number", [take, t](scute::pool& p) { take(p, t); })
        .observe([t](scute::pool& p) {
          if (id_of(p, 0) != 0 && id_of(p, 0) == id_of(p, 1))
            throw std::runtime_error("both threads have number " + std::to_string(id_of(p, 0)));
          return std::to_string(p.get_verified(ticket_of(p, t)).id);
        });
  return s;
}

void write_ticket(scute::pool& p, int t, uint64_t id, uint64_t work) {
  const auto mine = ticket_of(p, t);
  p.transact([&](scute::tx& tx) { tx.open(mine) = {id, work}; });
}

TEST(Threads, WithObjectsOfTheirOwn) {
  const auto s = offices("own numbers", [](scute::pool& p, int t) {
    write_ticket(p, t, 0, 1);
    write_ticket(p, t, static_cast<uint64_t>(t) + 5, 2);
  });
  explore_options how = states(4000);
  how.interleavings = 20;
  const exploration r = explore(s, how);
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_EQ(r.interleavings, 20u);
  EXPECT_FALSE(r.complete);
  const exploration again = explore(s, how);
  EXPECT_EQ(again.states, r.states);
  EXPECT_EQ(again.crash_points, r.crash_points);
  EXPECT_EQ(again.recrashed, r.recrashed);
  EXPECT_EQ(again.damaged, r.damaged);
}

// The lost update: the next number is looked up, some work is done, and it is taken. It shows only
// in orders where the other thread does the same between.
TEST(Threads, LostUpdate) {
  const auto s = offices("next number", [](scute::pool& p, int t) {
    const uint64_t next = std::max(id_of(p, 0), id_of(p, 1)) + 1;
    write_ticket(p, t, 0, 1);
    write_ticket(p, t, next, 2);
  });
  const exploration r = explore(s, states(20000));
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("next number"));
  EXPECT_THAT(r.story, HasSubstr("both threads have number 1"));
  EXPECT_THAT(r.story, HasSubstr("from operation"));  // the order
  EXPECT_EQ(explore(s, states(20000)).story, r.story);
}

struct accounts {
  uint64_t total, part[2];
};

// One object for both threads, under a lock that is held across transactions: a thread that
// waits for it lets the other one continue.
TEST(Threads, TakeTurnsByALock) {
  scute::testing::mutex lock;
  scute::ptr<accounts> root;
  scenario s("one object, a lock", small_pool(SCUTE_PROTECT_MLP));
  s.setup([&](scute::pool& p) { root = p.root<accounts>(); });
  for (int t = 0; t < 2; ++t)
    for (int k = 0; k < 2; ++k)
      s.in_thread(static_cast<size_t>(t)).step("add", [&, t](scute::pool& p) {
        const std::lock_guard hold(lock);
        p.transact([&](scute::tx& tx) {
          accounts& a = tx.open(root);
          ++a.part[t];
          ++a.total;
        });
      });
  for (int t = 0; t < 2; ++t)
    s.in_thread(static_cast<size_t>(t)).observe([&, t](scute::pool& p) {
      const accounts a = p.get(root);
      if (a.total != a.part[0] + a.part[1]) throw std::runtime_error("the parts do not add up");
      return std::to_string(a.part[t]);
    });
  explore_options how = states(5000);
  how.interleavings = 50;
  const exploration r = explore(s, how);
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_EQ(r.interleavings, 50u);
}

// A crash between the transactions of one thread's step, whatever the other one does.
TEST(Threads, TornStep) {
  const auto s = offices("torn", [](scute::pool& p, int t) {
    write_ticket(p, t, static_cast<uint64_t>(t) * 10 + 1, 1);
    write_ticket(p, t, static_cast<uint64_t>(t) * 10 + 2, 1);
  });
  explore_options how = states(20000);
  how.repeat_command = "again %s";
  const exploration r = explore(s, how);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("(under way)"));
  EXPECT_THAT(r.story, HasSubstr("interleaving: thread "));
  // By its name it is found again.
  const auto at = r.story.find("repeat: again ") + 14;
  how.only = r.story.substr(at, r.story.find('\n', at) - at);
  EXPECT_EQ(explore(s, how).story, r.story);
}

}  // namespace

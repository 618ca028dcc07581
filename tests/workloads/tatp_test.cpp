// SPDX-License-Identifier: BSD-3-Clause
// TATP in every store: each transaction against the same on std::map, the rules of its description,
// and several threads.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "workloads/tatp/database.hpp"
#include "workloads/workload_stages.hpp"

namespace scute::test {
namespace {

using namespace workloads::tatp;
using workloads::dice;

// A plain model of the description's SQL.
struct plain_tatp {
  struct facility {
    bool active;
    uint8_t data_a;
  };
  struct forwarding {
    uint8_t end_time;
    uint64_t number;
  };
  std::map<uint32_t, std::pair<uint32_t, unsigned>> subscribers;  // vlr_location, bit_1
  std::map<std::pair<uint32_t, unsigned>, uint64_t> accesses;  // the numbers that get_access reads
  std::map<std::pair<uint32_t, unsigned>, facility> facilities;
  std::map<std::tuple<uint32_t, unsigned, unsigned>, forwarding> forwardings;
  std::map<uint32_t, uint64_t> constants;  // read by get_subscriber, never changed

  bool run(const request& q, uint64_t& seen) {
    const auto f = facilities.find({q.subscriber, q.type});
    auto& [location, bit] = subscribers.at(q.subscriber);
    switch (q.what) {
      case kind::get_subscriber: seen += constants.at(q.subscriber) + location + bit; return true;
      case kind::get_destination: {
        bool any = false;
        if (f == facilities.end() || !f->second.active) return false;
        for (const auto& [key, c] : forwardings) {
          const auto& [id, type, start] = key;
          if (id != q.subscriber || type != q.type || start > q.start_time ||
              q.end_time >= c.end_time)
            continue;
          seen += c.number;
          any = true;
        }
        return any;
      }
      case kind::get_access: {
        const auto a = accesses.find({q.subscriber, q.type});
        if (a != accesses.end()) seen += a->second;
        return a != accesses.end();
      }
      case kind::update_subscriber:
        if (f == facilities.end()) return false;
        bit = q.word & 1;
        f->second.data_a = static_cast<uint8_t>(q.word >> 8);
        return true;
      case kind::update_location: location = q.word; return true;
      case kind::insert_forwarding:
        return f != facilities.end() && forwardings
                                            .emplace(std::tuple(q.subscriber, q.type, q.start_time),
                                                     forwarding{q.end_time, q.word})
                                            .second;
      default: return forwardings.erase({q.subscriber, q.type, q.start_time}) == 1;
    }
  }
  friend bool operator==(const plain_tatp&, const plain_tatp&) = default;
};
bool operator==(const plain_tatp::facility& a, const plain_tatp::facility& b) {
  return a.active == b.active && a.data_a == b.data_a;
}
bool operator==(const plain_tatp::forwarding& a, const plain_tatp::forwarding& b) {
  return a.end_time == b.end_time && a.number == b.number;
}

template <class Database>
plain_tatp content(const Database& db) {
  plain_tatp p;
  db.for_each([&](const auto& r, const auto& s) {
    p.subscribers[s.id] = {s.vlr_location, s.bit[0]};
    p.constants[s.id] = uint64_t{s.msc_location} + s.hex[9] + s.byte2[9];
    for (unsigned i = 0; i < 4; ++i) {
      if (s.access[i]) {
        const auto& a = r.get(s.access[i]);
        p.accesses[{s.id, i + 1}] = a.data1 + a.data2 + static_cast<uint64_t>(a.data3[0]) +
                                    static_cast<uint64_t>(a.data4[0]);
      }
      if (!s.facility[i]) continue;
      const auto& f = r.get(s.facility[i]);
      p.facilities[{s.id, i + 1}] = {f.is_active != 0, f.data_a};
      for (const auto c : f.forwarding)
        if (c)
          p.forwardings[{s.id, i + 1, r.get(c).start_time}] = {r.get(c).end_time,
                                                               read_number(r.get(c).number)};
    }
  });
  return p;
}

template <class Stage>
class tatp : public ::testing::Test {
 protected:
  using store_type = typename Stage::store_type;
  using database = workloads::tatp::database<store_type>;

  void open(const setup& how) {
    db = std::make_unique<database>(stage.store(),
                                    stage.store().template root<typename database::root>(), how);
  }
  void TearDown() override {
    if (db == nullptr) return;
    db->clear();
    EXPECT_EQ(stage.objects().value_or(0), 0U);
    stage.verify();
  }

  Stage stage;
  std::unique_ptr<database> db;
};
TYPED_TEST_SUITE(tatp, workload_stages, workload_stage_name);

TYPED_TEST(tatp, does_what_its_sql_says) {
  const setup how{200, 64, 7};
  this->open(how);
  plain_tatp expected = content(*this->db);
  dice d(3);
  for (int i = 0; i < 6000; ++i) {
    const request q = draw(d, mix::whole, how.subscribers);
    uint64_t seen = 0, wanted = 0;
    ASSERT_EQ(this->db->run(q, seen), expected.run(q, wanted)) << i;
    ASSERT_EQ(seen, wanted) << i;
  }
  EXPECT_EQ(this->db->check(), "");
  EXPECT_TRUE(content(*this->db) == expected);
  this->db.reset();
  this->stage.reopen();
  this->open(how);
  EXPECT_TRUE(content(*this->db) == expected);
}

// TATP-2: what several threads do to the same few subscribers is as if they took turns.
TYPED_TEST(tatp, threads_take_turns) {
  const setup how{40, 8, 7};
  this->open(how);
  const plain_tatp before = content(*this->db);
  constexpr unsigned threads = 3;
  std::array<int64_t, threads> fresh{};
  {
    std::vector<std::jthread> crew;
    for (unsigned t = 0; t < threads; ++t)
      crew.emplace_back([&, t] {
        dice d(100 + t);
        uint64_t seen = 0;
        for (int i = 0; i < 4000; ++i) {
          request q = draw(d, mix::whole, how.subscribers);
          // More of those that make and free rows.
          if (i % 3 == 0) q.what = i % 2 == 0 ? kind::insert_forwarding : kind::delete_forwarding;
          const bool done = this->db->run(q, seen);
          if (done && q.what == kind::insert_forwarding) ++fresh[t];
          if (done && q.what == kind::delete_forwarding) --fresh[t];
        }
      });
  }
  EXPECT_EQ(this->db->check(), "");
  const plain_tatp after = content(*this->db);
  EXPECT_EQ(static_cast<int64_t>(after.forwardings.size()),
            static_cast<int64_t>(before.forwardings.size()) + fresh[0] + fresh[1] + fresh[2]);
  EXPECT_EQ(after.accesses, before.accesses);
}

// The same seeds give the same database in every store: the sum of what a run reads.
TYPED_TEST(tatp, is_the_same_in_every_store) {
  const setup how{300, 1, 11};
  this->open(how);
  dice d(5);
  uint64_t seen = 0, done = 0;
  for (const request& q : draw_all(d, mix::whole, how.subscribers, 2000))
    done += this->db->run(q, seen);
  EXPECT_EQ(done, 1487U);
  EXPECT_EQ(seen, 3'146'978'943'436U);
}

using plain_database = database<workloads::volatile_store>;

// How likely an active facility forwards a call: any start time, any end time from 1 to 24, of 0 to
// 3 forwardings whose start times are any and whose end times are up to 8 later.
double forwarded() {
  double sum = 0;
  for (unsigned start = 0; start < 3; ++start)
    for (unsigned end = 1; end <= 24; ++end)
      for (unsigned has = 0; has < 8; ++has) {
        const std::array<double, 4> choices{1, 3, 3, 1};  // as many of each number
        double misses = 1;
        for (unsigned k = 0; k <= start; ++k) {
          if ((has >> k & 1U) == 0) continue;
          double ends = 0;
          for (unsigned late = 1; late <= 8; ++late) ends += end < 8 * k + late ? 1 : 0;
          misses *= 1 - ends / 8;
        }
        sum += (1 - misses) / choices[static_cast<size_t>(std::popcount(has))] / 4;
      }
  return sum / (3 * 24);
}

// The description's rules for the population, the mix and the shares that succeed.
TEST(tatp_rules, shares_are_those_of_the_description) {
  workloads::volatile_store s;
  constexpr uint32_t n = 20000;
  plain_database db(s, s.root<plain_database::root>(), {n, 1, 1});
  plain_tatp there = content(db);
  EXPECT_NEAR(static_cast<double>(there.accesses.size()) / n, 2.5, 0.05);
  EXPECT_NEAR(static_cast<double>(there.facilities.size()) / n, 2.5, 0.05);
  EXPECT_NEAR(static_cast<double>(there.forwardings.size()) / n, 3.75, 0.1);
  double active = 0;
  for (const auto& [key, f] : there.facilities) active += f.active ? 1 : 0;
  EXPECT_NEAR(active / static_cast<double>(there.facilities.size()), 0.85, 0.01);

  constexpr int requests = 200'000;
  std::array<double, kinds> drawn{}, done{};
  dice d(9);
  uint64_t seen = 0;
  for (int i = 0; i < requests; ++i) {
    const request q = draw(d, mix::whole, n);
    ++drawn[static_cast<size_t>(q.what)];
    done[static_cast<size_t>(q.what)] += db.run(q, seen) ? 1 : 0;
  }
  const std::array<double, kinds> mix_of{0.35, 0.10, 0.35, 0.02, 0.14, 0.02, 0.02};
  // The description says 62.5 % and half of that; the share that get_destination finds follows
  // from the times that are drawn.
  const std::array<double, kinds> succeed{
      1, 0.625 * 0.85 * forwarded(), 0.625, 0.625, 1, 0.3125, 0.3125};
  for (size_t k = 0; k < kinds; ++k) {
    EXPECT_NEAR(drawn[k] / requests, mix_of[k], 0.004) << k;
    EXPECT_NEAR(done[k] / drawn[k], succeed[k], 0.02) << k;
  }
  db.clear();
}

// All subscribers are drawn, with the whole mix some more often than others.
TEST(tatp_rules, subscribers) {
  constexpr uint32_t n = 100'000;
  dice d(2);
  std::set<uint32_t> whole, location, one;
  for (int i = 0; i < 400'000; ++i) {
    const request q = draw(d, mix::whole, n);
    ASSERT_TRUE(q.subscriber >= 1 && q.subscriber <= n);
    whole.insert(q.subscriber);
    location.insert(draw(d, mix::location, n).subscriber);
    one.insert(draw(d, mix::location_of_one, n).subscriber);
  }
  EXPECT_EQ(one, std::set<uint32_t>{1});
  EXPECT_GT(location.size(), n * 97 / 100);
  EXPECT_LT(whole.size(), n * 9 / 10);
}

// TATP-1, TATP-3: check() notices broken rows.
TEST(tatp_rules, check_notices) {
  workloads::volatile_store s;
  const auto at = s.root<plain_database::root>();
  plain_database db(s, at, {40, 1, 1});
  ASSERT_EQ(db.check(), "");
  auto& row = *at.address()->subscribers.last.address()->rows[3].address();
  const auto expect = [&](const char* what, auto& field, auto wrong) {
    const auto right = field;
    field = wrong;
    EXPECT_NE(db.check().find(what), std::string::npos) << db.check();
    field = right;
    EXPECT_EQ(db.check(), "");
  };
  expect("the key of subscriber", row.id, row.id + 1);
  expect("the key of subscriber", row.number[14], 'x');
  for (const auto a : row.access)
    if (a) expect("an access_info", a.address()->type, uint8_t{9});
  for (const auto f : row.facility)
    if (f) {
      expect("a special_facility", f.address()->is_active, uint8_t{2});
      for (const auto c : f.address()->forwarding)
        if (c) expect("a call_forwarding", c.address()->start_time, uint8_t{3});
    }
  db.clear();
}

}  // namespace
}  // namespace scute::test

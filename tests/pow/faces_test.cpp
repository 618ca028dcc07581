// SPDX-License-Identifier: BSD-3-Clause
// The typed faces, on files.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "files.hpp"

namespace scute::pow {
namespace {

struct account {
  static constexpr std::string_view scute_type = "account";
  int64_t balance = 0;
  int64_t changes = 0;
};
struct list_node {
  uint64_t number = 0;
  ref<list_node> next{};
};

class Faces : public test::pow_files {};

INSTANTIATE_TEST_SUITE_P(, Faces, test::memory_and_disk(), test::name_of_place);

TEST_P(Faces, MapIsFoundAgain) {
  {
    store db(path, small());
    map<std::string, account> accounts(db, "accounts");
    unordered_map<uint64_t, std::string> names(db, "names");
    auto s = db.section(m);
    accounts.edit("ann").balance += 5;
    accounts.edit("bob").balance = 7;
    names.insert_or_assign(4, "four");
    s.commit();
    auto t = db.section(m);
    accounts.edit("ann").balance += 5;
    EXPECT_TRUE(accounts.erase("bob"));
    EXPECT_FALSE(accounts.erase("carl"));
    t.commit();
  }
  store db(path, small());
  map<std::string, account> accounts(db, "accounts");
  unordered_map<uint64_t, std::string> names(db, "names");
  EXPECT_EQ(accounts.size(), 1U);
  EXPECT_EQ(accounts.at("ann").balance, 10);
  EXPECT_EQ(names.at(4), "four");
  for (const auto& [key, value] : accounts) EXPECT_EQ(key + std::to_string(value.balance), "ann10");
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

TEST_P(Faces, AbortPutsStructuresBack) {
  store db(path, small());
  map<std::string, std::string> words(db, "words");
  table<list_node> nodes(db, "nodes");
  vector<uint64_t> numbers(db, "numbers");
  queue<std::string> jobs(db, "jobs");
  value<account> sum(db, "sum");
  ref<list_node> first;
  {
    auto s = db.section(m);
    words.edit("a") = "1";
    words.edit("b") = "2";
    first = nodes.make(1U);
    numbers.push_back(10);
    numbers.push_back(11);
    jobs.push("x");
    jobs.push("y");
    sum.edit().balance = 3;
    s.commit();
  }
  const auto change = [&] {
    words.edit("a") = "changed";
    words.erase("b");
    words.edit("c") = "new";
    words.edit("c") = "newer";
    words.edit("b") = "again";
    const auto n = nodes.make(2U);
    nodes.edit(first).next = n;
    nodes.erase(n);
    numbers.edit(0) = 99;
    numbers.pop_back();
    numbers.push_back(77);
    numbers.push_back(78);
    EXPECT_EQ(jobs.pop(), "x");
    jobs.push("z");
    sum.edit().balance = 4;
  };
  const auto text = [&] {
    std::string t;
    for (const auto& [k, v] : words) t += k + "=" + v + " ";
    t += std::to_string(nodes.size()) + " " + std::to_string(nodes.get(first).number) + " " +
         (nodes.get(first).next ? "linked" : "alone") + " ";
    for (uint64_t i = 0; i < numbers.size(); ++i) t += std::to_string(numbers[i]) + " ";
    return t + jobs.front() + std::to_string(jobs.size()) + " " + std::to_string(sum->balance);
  };
  const std::string before = text();
  EXPECT_EQ(before, "a=1 b=2 1 1 alone 10 11 x2 3");
  {
    auto s = db.section(m);
    change();
    EXPECT_NE(text(), before);
  }  // not committed
  EXPECT_EQ(text(), before);
  EXPECT_THROW(
      {
        auto s = db.section(m);
        change();
        throw std::runtime_error("in the section");
      },
      std::runtime_error);
  EXPECT_EQ(text(), before);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  {
    auto s = db.section(m);
    change();
    s.commit();
  }
  EXPECT_EQ(text(), "a=changed b=again c=newer 1 1 linked 99 77 78 y2 4");
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

TEST_P(Faces, SequencesAreFoundAgain) {
  {
    store db(path, small());
    vector<std::string> v(db, "v");
    queue<uint64_t> q(db, "q");
    for (uint64_t i = 0; i < 100; ++i) {
      auto s = db.section(m);
      v.push_back(std::to_string(i));
      q.push(i);
      if (i % 3 == 0) {
        EXPECT_EQ(q.pop(), i / 3);
      }
      if (i % 10 == 9) v.pop_back();
      s.commit();
    }
  }
  store db(path, small());
  vector<std::string> v(db, "v");
  queue<uint64_t> q(db, "q");
  EXPECT_EQ(v.size(), 90U);
  EXPECT_EQ(v[89], "98");
  EXPECT_EQ(q.size(), 66U);
  EXPECT_EQ(q.front(), 34U);
}

TEST_P(Faces, Misuse) {
  store db(path, small());
  table<list_node> nodes(db, "nodes");
  map<std::string, std::string> words(db, "words");
  EXPECT_EQ(code_of([&] { nodes.make(1U); }), errc::notx);
  EXPECT_EQ(code_of([&] { words.edit("x"); }), errc::notx);
  EXPECT_EQ(code_of([&] { table<account> again(db, "nodes"); }), errc::type);
  EXPECT_EQ(code_of([&] { table<list_node> again(db, "nodes"); }), errc::busy);
  EXPECT_EQ(code_of([&] { store again(path, small()); }), errc::busy);
  ref<list_node> r;
  EXPECT_EQ(code_of([&] { nodes.get(r); }), errc::oid);
  {
    auto s = db.section(m);
    r = nodes.make(1U);
    s.commit();
  }
  {
    auto s = db.section(m);
    nodes.erase(r);
    EXPECT_EQ(code_of([&] { nodes.edit(r); }), errc::freed);
    s.commit();
    EXPECT_EQ(code_of([&] { s.commit(); }), errc::notx);
  }
  EXPECT_EQ(code_of([&] { nodes.get(r); }), errc::freed);
  {
    auto s = db.section(m);
    const auto other = nodes.make(2U);  // in its place
    EXPECT_EQ(code_of([&] { nodes.get(r); }), errc::freed);
    EXPECT_NE(other, r);
    s.commit();
  }
  // An object larger than a segment.
  EXPECT_EQ(code_of([&] {
              auto s = db.section(m);
              words.edit("large") = std::string(80000, 'x');
              s.commit();
            }),
            errc::range);
  EXPECT_FALSE(words.contains("large"));
  // A section inside one that is aborted.
  EXPECT_EQ(code_of([&] {
              auto s = db.section(m);
              words.edit("a") = "1";
              {
                auto inner = db.section();
              }
              s.commit();
            }),
            errc::aborted);
  EXPECT_FALSE(words.contains("a"));
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

TEST_P(Faces, OneObjectInTwoSections) {
  store db(path, small());
  value<account> v(db, "v");
  std::mutex other;
  {
    auto s = db.section(m);
    v.edit().balance = 1;
    s.commit();
  }
  auto s = db.section(m);
  v.edit().balance = 2;
  std::thread([&] {
    auto t = db.section(other);
    EXPECT_EQ(code_of([&] { v.edit(); }), errc::conflict);
  }).join();
  s.commit();
  EXPECT_EQ(v->balance, 2);
}

TEST_P(Faces, WritesOutsideOfSectionsAreFound) {
  store db(path, small());
  value<account> v(db, "v");
  {
    auto s = db.section(m);
    v.edit().balance = 1;
    s.commit();
  }
  const_cast<account&>(*v).balance = 2;
  std::string reported;
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE, [&](const char* what, bool) { reported = what; }), 1U);
  EXPECT_NE(reported.find("outside of a section"), std::string::npos);
}

TEST_P(Faces, FullFilesShrinkAgain) {
  options o = small();
  o.max_size = o.size;
  store db(path, o);
  map<uint64_t, std::string> all(db, "all");
  uint64_t n = 0;
  errc last{};
  while (last == errc{} && n < 10000)
    last = code_of([&] {
      auto s = db.section(m);
      all.edit(n) = std::string(5000, 'x');
      s.commit();
      ++n;
    });
  EXPECT_EQ(last, errc::nospc);
  EXPECT_GT(n, 80U);
  EXPECT_EQ(all.size(), n);
  for (uint64_t i = 0; i < n; i += 2) {
    auto s = db.section(m);
    all.erase(i);
    s.commit();
  }
  for (uint64_t i = 0; i < n / 4; ++i) {
    auto s = db.section(m);
    all.edit(1000 + i) = std::string(5000, 'y');
    s.commit();
  }
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

TEST_P(Faces, MaxMemory) {
  options o = small();
  o.max_memory = 100000;
  store db(path, o);
  map<uint64_t, std::string> all(db, "all");
  uint64_t n = 0;
  while (code_of([&] {
           auto s = db.section(m);
           all.edit(n) = std::string(1000, 'x');
           s.commit();
           ++n;
         }) == errc{})
    ASSERT_LT(n, 200U);
  EXPECT_GT(n, 90U);
  EXPECT_LE(db.info().memory, 100000U);
  auto s = db.section(m);
  all.erase(0);
  s.commit();
  EXPECT_EQ(all.size(), n - 1);
}

TEST_P(Faces, ThreadsAndTheCleaner) {
  options o = small();
  o.flags = 0;
  o.max_size = 2 << 20;
  const uint64_t threads = 4, rounds = GetParam() == test::scratch::memory ? 1500 : 300;
  {
    store db(path, o);
    map<uint64_t, std::string> all(db, "all");
    value<account> sum(db, "sum");
    std::vector<std::thread> running;
    for (uint64_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        for (uint64_t i = 0; i < rounds; ++i) {
          auto s = db.begin(i % 5 == 4 ? later : strict, m);
          all.edit(t * 100 + i % 50) = std::string(900, static_cast<char>('a' + i % 26));
          if (i % 7 == 0) all.erase(t * 100 + i * 3 % 50);
          sum.edit().balance += 1;
          if (i % 11 == 3) continue;  // aborted
          s.commit();
        }
      });
    for (auto& t : running) t.join();
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    if (GetParam() == test::scratch::memory) {
      EXPECT_GT(db.info().cleaned_segments, 0U);
    }
  }
  store db(path, o);
  map<uint64_t, std::string> all(db, "all");
  value<account> sum(db, "sum");
  uint64_t expected = 0;
  for (uint64_t i = 0; i < rounds; ++i) expected += i % 11 != 3;
  EXPECT_EQ(sum->balance, static_cast<int64_t>(threads * expected));
  EXPECT_LE(all.size(), threads * 50);
}

// A section that waits on a condition variable gives its lock away: others see what is not
// committed.
TEST_P(Faces, WaitingInASectionIsNoticed) {
  options o = small();
  o.flags |= SCUTE_POW_WATCH_LOCKS;
  store db(path, o);
  value<account> v(db, "v");
  std::mutex other;
  {
    auto s = db.section(m, other);
    v.edit().balance = 1;
    s.commit();
  }
  auto s = db.section(m);
  v.edit().balance = 2;
  m.unlock();  // as wait() does
  std::thread([&] {
    EXPECT_EQ(code_of([&] { static_cast<void>(db.section(other, m)); }), errc::conflict);
    EXPECT_TRUE(other.try_lock());  // nothing stays locked
    other.unlock();
  }).join();
  m.lock();
  EXPECT_EQ(code_of([&] { s.commit(); }), errc::invalid);
  EXPECT_EQ(v->balance, 1);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  auto t = db.section(m);
  v.edit().balance = 3;
  t.commit();
}

TEST_P(Faces, MapsOfOtherTypesAreRefused) {
  store db(path, small());
  map<std::string, std::string> words(db, "words");
  EXPECT_EQ(code_of([&] { map<uint64_t, uint64_t> other(db, "words"); }), errc::type);
  EXPECT_EQ(code_of([&] { map<std::string, uint64_t> other(db, "words"); }), errc::type);
}

// A table, a vector and a single object of one type are three kinds of tables.
TEST_P(Faces, KindsOfTablesAreDistinguished) {
  store db(path, small());
  table<uint64_t> a(db, "table");
  vector<uint64_t> b(db, "vector");
  value<uint64_t> c(db, "value");
  EXPECT_EQ(code_of([&] { vector<uint64_t> x(db, "table"); }), errc::type);
  EXPECT_EQ(code_of([&] { value<uint64_t> x(db, "table"); }), errc::type);
  EXPECT_EQ(code_of([&] { table<uint64_t> x(db, "vector"); }), errc::type);
  EXPECT_EQ(code_of([&] { value<uint64_t> x(db, "vector"); }), errc::type);
  EXPECT_EQ(code_of([&] { table<uint64_t> x(db, "value"); }), errc::type);
  EXPECT_EQ(code_of([&] { vector<uint64_t> x(db, "value"); }), errc::type);
}

TEST_P(Faces, SharedLocks) {
  store db(path, small());
  value<account> v(db, "v");
  std::shared_mutex rw;
  {
    auto s = db.section(rw);
    v.edit().balance = 1;
    s.commit();
  }
  shared reading(rw);
  auto s = db.section(reading);
  EXPECT_TRUE(rw.try_lock_shared());
  rw.unlock_shared();
  EXPECT_EQ(v->balance, 1);
  s.commit();
  EXPECT_TRUE(rw.try_lock());
  rw.unlock();
}

}  // namespace
}  // namespace scute::pow

// SPDX-License-Identifier: BSD-3-Clause
// Tables and stores that end before what uses them.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "files.hpp"
#include "support/wait.hpp"

namespace scute::pow {
namespace {

struct pair {
  static constexpr std::string_view scute_type = "pair";
  int64_t a = 0, b = 0;
};

class Lives : public test::pow_files {
 protected:
  template <typename Fn>
  void in_section(store& db, Fn&& fn, durability how = strict) {
    auto s = db.section(m, how);
    fn();
    s.commit();
  }
};
INSTANTIATE_TEST_SUITE_P(, Lives, test::memory_and_disk(), test::name_of_place);

// As often as wanted; with what was written, copied by the cleaner and left in open segments
// meanwhile.
TEST_P(Lives, AFaceThatHasEndedIsOpenedAgain) {
  store db(path, small());
  std::optional<map<uint64_t, std::string>> words(std::in_place, db, "words");
  std::optional<table<pair>> pairs(std::in_place, db, "pairs");
  std::optional<vector<uint64_t>> numbers(std::in_place, db, "numbers");
  std::optional<queue<std::string>> jobs(std::in_place, db, "jobs");
  std::optional<value<pair>> one(std::in_place, db, "one");
  map<uint64_t, std::string> others(db, "others");
  ref<pair> first;
  for (uint64_t round = 0; round < 3; ++round) {
    in_section(db, [&] {
      for (uint64_t i = 0; i < 40; ++i)
        words->edit(i) = std::string(900 + i, static_cast<char>('a' + round));
      words->erase(round);
      first = pairs->make(int64_t(round), int64_t{7});
      numbers->push_back(round);
      jobs->push("job " + std::to_string(round));
      one->edit().a = static_cast<int64_t>(round);
    });
    in_section(db, [&] { numbers->edit(0) = 100 + round; }, later);
    words.reset();
    pairs.reset();
    numbers.reset();
    jobs.reset();
    one.reset();
    // While no face has them open: the cleaner, an object in memory that is compared with the
    // file, and others that write.
    for (uint64_t i = 0; i < 20; ++i)
      in_section(db, [&] { others.edit(i % 5) = std::string(9000, 'o'); });
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    db.clean();
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    words.emplace(db, "words");
    pairs.emplace(db, "pairs");
    numbers.emplace(db, "numbers");
    jobs.emplace(db, "jobs");
    one.emplace(db, "one");
    EXPECT_EQ(words->size(), 39U);
    EXPECT_FALSE(words->contains(round));
    EXPECT_EQ(words->at(30), std::string(930, static_cast<char>('a' + round)));
    EXPECT_EQ(pairs->size(), round + 1);
    EXPECT_EQ(pairs->get(first).a, static_cast<int64_t>(round));
    EXPECT_EQ(numbers->size(), round + 1);
    EXPECT_EQ((*numbers)[0], 100 + round);
    EXPECT_EQ(jobs->size(), round + 1);
    EXPECT_EQ(jobs->front(), "job 0");
    EXPECT_EQ((*one)->a, static_cast<int64_t>(round));
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  }
  EXPECT_EQ(code_of([&] { map<uint64_t, std::string> again(db, "words"); }), errc::busy);
  EXPECT_EQ(code_of([&] { map<uint64_t, uint64_t> other(db, "words"); }), errc::type);
}

// A face's changes in a section end with the face: no rollback may touch it after its end.
TEST_P(Lives, AFaceEndsInsideASection) {
  store db(path, small());
  map<uint64_t, std::string> stays(db, "stays");
  std::optional<map<uint64_t, std::string>> goes(std::in_place, db, "goes");
  in_section(db, [&] {
    stays.edit(1) = "before";
    goes->edit(1) = "before";
  });
  {
    auto s = db.section(m);
    stays.edit(1) = "changed";
    goes->edit(1) = "changed";
    goes->edit(2) = "made";
    s.stream();
    goes->erase(1);
    goes.reset();
    EXPECT_EQ(stays.at(1), "before");
    stays.edit(1) = "edited again";
    EXPECT_EQ(code_of([&] { s.commit(); }), errc::aborted);
  }
  EXPECT_EQ(stays.at(1), "before");
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  goes.emplace(db, "goes");
  EXPECT_EQ(goes->size(), 1U);
  EXPECT_EQ(goes->at(1), "before");
  {
    // One that the section has not changed.
    auto s = db.section(m);
    stays.edit(1) = "changed";
    goes.reset();
    s.commit();
  }
  EXPECT_EQ(stays.at(1), "changed");
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

TEST_P(Lives, NothingIsChangedAfterTheClose) {
  store db(path, small());
  map<uint64_t, std::string> words(db, "words");
  value<pair> one(db, "one");
  in_section(db, [&] { words.edit(1) = "text"; });
  db.close();
  EXPECT_EQ(words.at(1), "text");
  EXPECT_EQ(code_of([&] { words.edit(1) = "more"; }), errc::invalid);
  EXPECT_EQ(code_of([&] { words.erase(1); }), errc::invalid);
  EXPECT_EQ(code_of([&] { one.edit(); }), errc::invalid);
  EXPECT_EQ(words.at(1), "text");
  // Another store is not taken for it.
  store again(path, small());
  auto s = again.section(m);
  EXPECT_EQ(code_of([&] { words.edit(1) = "more"; }), errc::invalid);
  s.commit();
}

TEST_P(Lives, TheStoreEndsFirst) {
  std::optional<store> db(std::in_place, path, small());
  std::optional<map<uint64_t, std::string>> words(std::in_place, *db, "words");
  store moved(std::move(*db));
  db.reset();
  in_section(moved, [&] { words->edit(1) = "text"; });
  {
    const store end(std::move(moved));
  }
  EXPECT_EQ(code_of([&] { words->edit(1); }), errc::invalid);
  words.reset();
}

// While another thread has a section open the store stays as it is.
TEST_P(Lives, CloseDuringASection) {
  store db(path, small());
  map<uint64_t, std::string> words(db, "words");
  std::atomic<int> step{0};
  std::thread other([&] {
    auto s = db.section(m);
    words.edit(1) = "text";
    step = 1;
    while (step != 2) std::this_thread::yield();
    s.commit();
  });
  while (step != 1) std::this_thread::yield();
  EXPECT_EQ(code_of([&] { db.close(); }), errc::busy);
  step = 2;
  other.join();
  EXPECT_EQ(words.at(1), "text");
  in_section(db, [&] { words.edit(2) = "text"; });
  db.close();
  store again(path, small());
  map<uint64_t, std::string> there(again, "words");
  EXPECT_EQ(there.size(), 2U);
}

}  // namespace

// Makes other bytes each time.
struct restless {
  static constexpr std::string_view scute_type = "restless";
  static inline uint64_t calls = 0, growth = 0;
  uint64_t n = 0;
};
template <>
struct codec<restless> {
  static void encode(const restless& r, bytes_out& out) {
    out.put(r.n);
    const std::string more(++restless::calls * restless::growth, 'x');
    out.write(more.data(), more.size());
  }
  static void decode(restless& r, bytes_in& in) {
    in.get(r.n);
    std::string rest(in.left(), 0);
    in.read(rest.data(), rest.size());
  }
};

namespace {

// An object is measured before its section is written, and written then: with several of them,
// twice.
TEST_P(Lives, ACodecThatChangesItsMind) {
  store db(path, small());
  map<uint64_t, restless> all(db, "all");
  const auto put = [&](uint64_t n) {
    in_section(db, [&] {
      for (uint64_t i = 0; i < 4; ++i) all.edit(i).n = n;
    });
  };
  put(1);
  for (const uint64_t growth : {1000, 1}) {
    restless::growth = growth;
    EXPECT_EQ(code_of([&] { put(2); }), errc::invalid);
    EXPECT_EQ(all.at(3).n, 1U);
    restless::growth = 0;
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  }
  put(3);
  db.close();
  store again(path, small());
  map<uint64_t, restless> there(again, "all");
  EXPECT_EQ(there.at(3).n, 3U);
}

// A check waits for a section, which closes a table, while another thread opens one and waits for
// the check.
TEST_P(Lives, ATableEndsWhileAnotherOneIsOpenedDuringACheck) {
  store db(path, small());
  std::optional<map<uint64_t, std::string>> words(std::in_place, db, "words");
  auto s = db.section(m);
  words->edit(1) = "one";
  EXPECT_EQ(code_of([&] { db.check(); }), errc::invalid);
  test::waiting_thread checks(
      [&] { EXPECT_EQ(code_of([&] { EXPECT_EQ(db.check(), 0U); }), errc{}); });
  EXPECT_TRUE(checks.comes_to_wait());
  test::waiting_thread opens([&] { const map<uint64_t, std::string> others(db, "others"); });
  EXPECT_TRUE(opens.comes_to_wait());
  words.reset();
  EXPECT_EQ(code_of([&] { s.commit(); }), errc::aborted);
  checks.join();
  opens.join();
}

// The lock is taken twice by one section, and no other one has it.
TEST_P(Lives, ARecursiveLockIsWatched) {
  options o = small();
  o.flags |= SCUTE_POW_WATCH_LOCKS;
  store db(path, o);
  value<pair> v(db, "v");
  std::recursive_mutex lock;
  {
    auto s = db.section(lock);
    v.edit().a = 1;
    {
      auto inner = db.section(lock);
      v.edit().b = 2;
      inner.commit();
    }
    s.commit();
  }
  EXPECT_EQ(v->a + v->b, 3);
  std::thread([&] {
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    auto s = db.section(lock);
    v.edit().a = 5;
    s.commit();
  }).join();
  EXPECT_EQ(v->a, 5);
}

}  // namespace
}  // namespace scute::pow

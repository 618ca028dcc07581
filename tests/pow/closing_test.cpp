// SPDX-License-Identifier: BSD-3-Clause
// Stores that are closed while other threads use them, and afterwards (CALLS-1, CALLS-2, CALLS-3).
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "c_api/pow/calls.hpp"
#include "files.hpp"
#include "support/wait.hpp"

namespace scute::pow {
namespace {

// A store of the C interface that is kept, and has some objects.
class Closing : public ::testing::Test {
 protected:
  Closing() {
    scute_pow_options_init(&o_);
    o_.size = 1 << 20;
    o_.max_size = 4 << 20;
    o_.segment_size = 40960;
    o_.flags = SCUTE_POW_NO_CLEANER;
    o_.protection = SCUTE_POW_NONE;
    o_.progress = [](void* arg, const char*, uint64_t, uint64_t) {
      static_cast<Closing*>(arg)->inside();
    };
    o_.progress_arg = this;
    open();
    EXPECT_EQ(scute_pow_alloc(store_, "objects", 8, &file_), SCUTE_OK);
    for (uint64_t& x : objects_) EXPECT_EQ(scute_pow_store(file_, &x), SCUTE_OK);
  }
  ~Closing() override {
    EXPECT_EQ(scute_pow_close(store_), SCUTE_OK);
    scute_pow_drop(store_);
  }
  void open() {
    EXPECT_EQ(scute_pow_open(path_.c_str(), &o_, &store_), SCUTE_OK);
    EXPECT_EQ(scute_pow_keep(store_), SCUTE_OK);
  }
  // A callback calls this inside of a call.
  void inside() {
    if (const auto fn = std::exchange(in_call_, {})) fn();
  }
  int open_table(const char* name) {
    scute_pow_serializer k{};
    k.struct_size = sizeof k;
    k.type = 0x616c6c00;  // as scute_pow_alloc() names it
    k.size = 8;
    k.chooses_indexes = 1;
    k.arg = this;
    k.encode = [](void*, uint64_t index, void* to) { std::memcpy(to, &index, 8); };
    k.load = [](void* arg, uint64_t, const void*, uint32_t) {
      static_cast<Closing*>(arg)->inside();
      return 0;
    };
    return scute_pow_table_open(store_, name, &k, &table_);
  }
  int get_info() {
    scute_pow_info i{};
    i.struct_size = sizeof i;
    return scute_pow_get_info(store_, &i);
  }
  int begin_and_commit() {
    scute_pow_section* s = nullptr;
    const int e = scute_pow_begin(store_, SCUTE_POW_STRICT, &s);
    return e != SCUTE_OK ? e : scute_pow_commit(s);
  }
  int list_tables() {
    return scute_pow_list_tables(
        store_,
        [](void* arg, const scute_pow_table_info*) { static_cast<Closing*>(arg)->inside(); }, this);
  }
  int list_segments() {
    return scute_pow_list_segments(
        store_,
        [](void* arg, const scute_pow_segment_info*) { static_cast<Closing*>(arg)->inside(); },
        this);
  }
  int check() { return scute_pow_check(store_, SCUTE_POW_COMPARE, nullptr, nullptr, nullptr); }

  // Closes while another thread is in the call. Then the call continues, and the store is whole.
  void expect_busy_inside(const std::function<int()>& call) {
    std::atomic<bool> entered = false, may_leave = false;
    in_call_ = [&] {
      entered = true;
      test::wait_until([&] { return may_leave.load(); });
    };
    std::thread other([&] { EXPECT_EQ(call(), SCUTE_OK); });
    test::wait_until([&] { return entered.load(); });
    EXPECT_EQ(scute_pow_close(store_), SCUTE_E_BUSY);
    EXPECT_NE(std::string(scute_errormsg()).find("has not returned"), std::string::npos);
    may_leave = true;
    other.join();
    EXPECT_EQ(check(), SCUTE_OK);
  }
  // Closes while another thread makes such calls, one after the other.
  void expect_ends_beside(const std::function<int()>& call) {
    std::atomic<uint64_t> calls = 0;
    std::thread other([&] {
      int e = SCUTE_OK;
      for (; e == SCUTE_OK; ++calls) {
        e = call();
        test::pause(std::chrono::microseconds(1));  // a moment at which it can be closed
      }
      EXPECT_EQ(e, SCUTE_E_INVALID) << scute_errormsg();
      EXPECT_NE(std::string(scute_errormsg()).find("the store is closed"), std::string::npos);
    });
    test::wait_until([&] { return calls >= 3; });
    test::wait_until([&] { return scute_pow_close(store_) == SCUTE_OK; });
    other.join();
    scute_pow_drop(store_);
    open();
  }

  test::scratch folder_;
  std::string path_ = folder_.file("s.pow");
  scute_pow_options o_{};
  scute_pow* store_ = nullptr;
  scute_pow_file* file_ = nullptr;
  scute_pow_table* table_ = nullptr;
  uint64_t objects_[100]{};
  std::function<void()> in_call_;
};

TEST_F(Closing, IsBusyInsideACompaction) {
  expect_busy_inside([&] { return scute_pow_compact(store_); });
}
TEST_F(Closing, IsBusyInsideACheck) {
  expect_busy_inside([&] { return check(); });
}
TEST_F(Closing, IsBusyInsideAListOfTables) {
  expect_busy_inside([&] { return list_tables(); });
}
TEST_F(Closing, IsBusyInsideAListOfSegments) {
  expect_busy_inside([&] { return list_segments(); });
}
TEST_F(Closing, IsBusyInsideTheOpeningOfATable) {
  ASSERT_EQ(scute_pow_close(store_), SCUTE_OK);
  scute_pow_drop(store_);
  open();
  expect_busy_inside([&] { return open_table("objects"); });
}
// The thread that closes is itself inside of a call.
TEST_F(Closing, IsBusyInsideACallOfTheSameThread) {
  int inside = SCUTE_OK;
  in_call_ = [&] { inside = scute_pow_close(store_); };
  EXPECT_EQ(scute_pow_compact(store_), SCUTE_OK);
  EXPECT_EQ(inside, SCUTE_E_BUSY);
}

TEST_F(Closing, EndsBesideEveryCall) {
  expect_ends_beside([&] { return scute_pow_sync(store_); });
  expect_ends_beside([&] { return scute_pow_clean(store_, 1, nullptr); });
  expect_ends_beside([&] { return scute_pow_compact(store_); });
  expect_ends_beside([&] { return check(); });
  expect_ends_beside([&] { return get_info(); });
  expect_ends_beside([&] { return list_tables(); });
  expect_ends_beside([&] { return list_segments(); });
  expect_ends_beside([&] { return begin_and_commit(); });
  expect_ends_beside([&] {
    const int e = open_table("objects");
    return e != SCUTE_OK ? e : scute_pow_table_close(table_);
  });
}
// CALLS-1: sections of many threads overlap all the time. The closing lets no further one begin.
TEST_F(Closing, EndsBesideSectionsThatOverlap) {
  std::vector<std::thread> threads;
  std::atomic<uint64_t> ended = 0;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (scute_pow_section* s = nullptr;
           scute_pow_begin(store_, SCUTE_POW_STRICT, &s) == SCUTE_OK; ++ended) {
        test::pause(std::chrono::milliseconds(5));
        EXPECT_EQ(scute_pow_commit(s), SCUTE_OK);
      }
    });
  test::wait_until([&] { return ended >= 16; });
  int e = SCUTE_E_BUSY;
  for (int i = 0; i < 10 && e == SCUTE_E_BUSY; ++i) e = scute_pow_close(store_);
  EXPECT_EQ(e, SCUTE_OK);
  while (e == SCUTE_E_BUSY) e = scute_pow_close(store_);
  for (std::thread& t : threads) t.join();
}
// A section that ends wakes a thread that waits for its place.
TEST_F(Closing, EndsBesideThreadsThatWaitForAPlace) {
  std::vector<std::thread> threads;
  std::atomic<uint64_t> ended = 0;
  constexpr uint64_t count = 140;
  for (uint64_t i = 0; i < count; ++i)
    threads.emplace_back([&] {
      EXPECT_EQ(begin_and_commit(), SCUTE_OK);
      ++ended;
      int e = SCUTE_OK;
      while (e == SCUTE_OK) {
        e = begin_and_commit();
        test::pause(std::chrono::milliseconds(1));
      }
      EXPECT_EQ(e, SCUTE_E_INVALID);
    });
  test::wait_until([&] { return ended == count; });
  test::wait_until([&] { return scute_pow_close(store_) == SCUTE_OK; });
  for (std::thread& t : threads) t.join();
}

TEST_F(Closing, LeavesKeptHandlesThatRefuse) {
  ASSERT_EQ(open_table("others"), SCUTE_OK);
  scute_pow_section* s = nullptr;
  EXPECT_EQ(scute_pow_current(store_, &s), SCUTE_E_NOTX);
  ASSERT_EQ(scute_pow_close(store_), SCUTE_OK);
  EXPECT_EQ(scute_pow_close(store_), SCUTE_OK) << "it is closed";
  EXPECT_EQ(scute_pow_current(store_, &s), SCUTE_E_INVALID);
  EXPECT_EQ(begin_and_commit(), SCUTE_E_INVALID);
  EXPECT_EQ(get_info(), SCUTE_E_INVALID);
  EXPECT_EQ(scute_pow_table_close(table_), SCUTE_E_INVALID);
  uint64_t n = 0;
  EXPECT_EQ(scute_pow_count(file_, &n), SCUTE_E_INVALID);
  EXPECT_EQ(scute_pow_store(file_, &objects_[0]), SCUTE_E_INVALID);
  scute_pow* const before = store_;
  scute_pow_table* const table_before = table_;
  // In the memory of the one before, perhaps.
  open();
  ASSERT_EQ(scute_pow_begin(store_, SCUTE_POW_STRICT, &s), SCUTE_OK);
  EXPECT_EQ(scute_pow_current(before, &s), SCUTE_E_INVALID);
  EXPECT_EQ(scute_pow_new(s, table_before, 7, &n), SCUTE_E_INVALID);
  EXPECT_EQ(scute_pow_edit(s, table_before, 7, nullptr), SCUTE_E_INVALID);
  EXPECT_EQ(scute_pow_abort(s), SCUTE_OK);
  scute_pow_drop(before);
}

TEST_F(Closing, KeepsNothing) {
  EXPECT_EQ(scute_pow_keep(nullptr), SCUTE_E_INVALID);
  scute_pow_drop(nullptr);
}

// The parts of a closing, one by one. The store has no objects, and begins nothing by itself.
using core::c_api::store_calls;
using outcome = store_calls::outcome;
constexpr auto yes = [] { return true; };
constexpr auto no = [] { return false; };

// CALLS-4.
TEST(StoreCalls, AThreadThatTheClosingWaitsForEnters) {
  store_calls calls;
  bool with_section = false, in_a_call = false;
  EXPECT_EQ(
      calls.close(
          [&] {
            std::thread([&] { with_section = store_calls::call(calls, yes).is_open(); }).join();
            return false;
          },
          yes),
      outcome::objects);
  EXPECT_TRUE(with_section);
  const store_calls::call outer(calls, no);
  store_calls other;
  const store_calls::call between(other, no);
  const auto nested = [&] { return in_a_call = store_calls::call(calls, no).is_open(); };
  std::thread([&] { EXPECT_EQ(calls.close(no, yes), outcome::calls); }).join();
  EXPECT_TRUE(nested());
  in_a_call = false;
  // It is this thread that is in a call, while another one closes.
  std::atomic<bool> closing = false;
  std::atomic<bool> may_give_up = false;
  std::thread closer([&] {
    EXPECT_EQ(calls.close(no,
                          [&] {
                            closing = true;
                            return may_give_up.load();
                          }),
              outcome::calls);
  });
  test::wait_until([&] { return closing.load(); });
  EXPECT_TRUE(nested());
  may_give_up = true;
  closer.join();
  EXPECT_FALSE(calls.is_closed());
}
// CALLS-4: a call of a thread that had a section, and has ended it inside.
TEST(StoreCalls, ACallIsAwaitedThatHasEndedItsSection) {
  store_calls calls;
  std::optional<store_calls::call> inside;
  EXPECT_EQ(calls.close(
                [&] {
                  if (!inside) inside.emplace(calls, yes);
                  return true;
                },
                yes),
            outcome::calls);
  inside.reset();
  EXPECT_EQ(calls.close(yes, yes), outcome::closed);
  EXPECT_FALSE(store_calls::call(calls, no).is_open());
}
// CALLS-5.
TEST(StoreCalls, ACallThatHasWaitedIsInsideBeforeTheNextClosing) {
  store_calls calls;
  std::atomic<bool> may_leave = false;
  std::thread waiter;
  const auto begin_to_wait = [&] {
    std::atomic<pid_t> task = 0;
    waiter = std::thread([&, &calls = calls] {
      task = ::gettid();
      const store_calls::call in(calls, no);
      EXPECT_TRUE(in.is_open());
      test::wait_until([&] { return may_leave.load(); });
    });
    test::wait_until([&] { return task != 0 && test::sleeps(task); });
    return false;
  };
  EXPECT_EQ(calls.close(begin_to_wait, yes), outcome::objects);
  EXPECT_EQ(calls.close(yes, yes), outcome::calls);
  may_leave = true;
  waiter.join();
  EXPECT_EQ(calls.close(yes, yes), outcome::closed);
}

// The faces of a store that another thread closes: errors, and the objects stay.
class ClosingOfFaces : public test::pow_files {};
INSTANTIATE_TEST_SUITE_P(, ClosingOfFaces, test::memory_and_disk(), test::name_of_place);

TEST_P(ClosingOfFaces, BesideEdits) {
  std::optional<store> db(std::in_place, path, small());
  map<uint64_t, std::string> all(*db, "all");
  value<uint64_t> sum(*db, "sum");
  std::atomic<uint64_t> commits = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      errc last{};
      for (uint64_t i = 0; last == errc{}; ++i) {
        last = code_of([&] {
          auto s = db->section(m);
          all.edit(i % 50) = std::to_string(t);
          sum.edit() += 1;
          s.commit();
          ++commits;
        });
        test::pause(std::chrono::microseconds(1));
      }
      EXPECT_EQ(last, errc::invalid);
      EXPECT_EQ(code_of([&] { all.edit(1); }), errc::invalid);
    });
  test::wait_until([&] { return commits >= 100; });
  test::wait_until([&] { return code_of([&] { db->close(); }) == errc{}; });
  for (std::thread& t : threads) t.join();
  db->close();  // it is closed
  EXPECT_EQ(code_of([&] { db->sync(); }), errc::invalid);
  EXPECT_EQ(code_of([&] { static_cast<void>(db->info()); }), errc::invalid);
  EXPECT_EQ(code_of([&] { value<uint64_t> more(*db, "more"); }), errc::invalid);
  EXPECT_EQ(*sum, commits);
  uint64_t seen = 0;
  for (const auto& [key, text] : all) seen += text.size() == 1 && key < 50;
  EXPECT_EQ(seen, all.size());
  // Another store, in which this thread has a section, and maybe at the same address.
  store again(path, small());
  value<uint64_t> found(again, "sum");
  EXPECT_EQ(*found, commits);
  auto s = again.section(m);
  found.edit() += 1;
  EXPECT_EQ(code_of([&] { all.edit(1); }), errc::invalid);
  EXPECT_EQ(code_of([&] { all.erase(1); }), errc::invalid);
  EXPECT_EQ(code_of([&] { sum.edit(); }), errc::invalid);
  s.commit();
  db.reset();  // before its faces
  EXPECT_EQ(code_of([&] { sum.edit(); }), errc::invalid);
}

}  // namespace
}  // namespace scute::pow

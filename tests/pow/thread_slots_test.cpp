// SPDX-License-Identifier: BSD-3-Clause
// More threads than there are slots, and threads that come and go.
#include <scute/pow.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "files.hpp"
#include "support/child.hpp"
#include "support/wait.hpp"

namespace scute::pow {
namespace {

class ThreadSlots : public test::pow_files {};
INSTANTIATE_TEST_SUITE_P(, ThreadSlots, test::memory_and_disk(), test::name_of_place);

constexpr int slots = 127;

// Threads that hold slots until they are let go.
class crowd {
 public:
  template <typename Fn>
  crowd(int n, Fn fn) {
    for (int i = 0; i < n; ++i)
      all_.emplace_back([this, fn] {
        fn([this] {
          std::unique_lock guard(lock_);
          ++inside_;
          changed_.notify_all();
          changed_.wait(guard, [this] { return go_; });
        });
      });
  }
  void wait_for(int n) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return inside_ >= n; });
  }
  void go() {
    const std::lock_guard guard(lock_);
    go_ = true;
    changed_.notify_all();
  }
  ~crowd() {
    go();
    for (std::thread& t : all_) t.join();
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool go_ = false;
  std::vector<std::thread> all_;
};

// Sections in all slots wait for the lock of a thread which makes things durable before it gives
// that back.
TEST_P(ThreadSlots, SyncNeedsNone) {
  store db(path, small());
  map<uint64_t, uint64_t> all(db, "all");
  std::atomic<int> inside{0};
  std::vector<std::thread> waiting;
  std::unique_lock hold(m);
  for (int i = 0; i < slots; ++i)
    waiting.emplace_back([&] {
      auto s = db.section(later);
      ++inside;
      const std::lock_guard guard(m);
      ++all.edit(1);
      s.commit();
    });
  while (inside < slots) std::this_thread::yield();
  std::promise<void> done;
  std::thread syncing([&] {
    db.sync();
    done.set_value();
  });
  EXPECT_EQ(done.get_future().wait_for(test::patience()), std::future_status::ready)
      << "sync() waits for sections that wait for this thread";
  hold.unlock();
  syncing.join();
  for (std::thread& t : waiting) t.join();
  EXPECT_EQ(all.at(1), uint64_t{slots});
}

// A thread that waits for a slot sleeps.
TEST_P(ThreadSlots, WaitingIsNoWork) {
  constexpr size_t more = 8;
  store db(path, small());
  std::atomic<int> served{0};
  crowd in(slots, [&](auto&& stay) {
    auto s = db.section();
    stay();
    s.commit();
  });
  in.wait_for(slots);
  std::array<std::atomic<pid_t>, more> numbers{};
  std::vector<std::thread> late;
  for (auto& number : numbers)
    late.emplace_back([&] {
      number = gettid();
      auto s = db.section();
      ++served;
      s.commit();
    });
  for (const auto& number : numbers) {
    EXPECT_TRUE(test::becomes_true([&] { return test::sleeps(number); }))
        << "thread " << number << " never sleeps";
  }
  EXPECT_EQ(served, 0);
  in.go();
  for (std::thread& t : late) t.join();
  EXPECT_EQ(served, static_cast<int>(more));
}

// A thread that is cancelled while it waits for a slot gets one, and ends after the call.
TEST_P(ThreadSlots, WaitingIsNoCancellationPoint) {
  test::in_child([&] {
    store db(path, small());
    crowd in(slots, [&](auto&& stay) {
      auto s = db.section();
      stay();
      s.commit();
    });
    in.wait_for(slots);
    struct {
      scute_pow* store;
      std::atomic<pid_t> number{0};
      std::atomic<bool> served{false};
    } late{db.native_handle()};
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* arg) -> void* {
                    auto& mine = *static_cast<decltype(late)*>(arg);
                    mine.number = gettid();
                    scute_pow_section* s = nullptr;
                    mine.served = scute_pow_begin(mine.store, SCUTE_POW_STRICT, &s) == SCUTE_OK &&
                                  scute_pow_commit(s) == SCUTE_OK;
                    pthread_testcancel();
                    return nullptr;
                  },
                  &late),
              0);
    test::wait_until([&] { return late.number != 0 && test::sleeps(late.number); });
    ASSERT_EQ(pthread_cancel(thread), 0);
    in.go();
    void* ended = nullptr;
    ASSERT_EQ(pthread_join(thread, &ended), 0);
    EXPECT_EQ(ended, PTHREAD_CANCELED);
    EXPECT_TRUE(late.served);
  });
}

// A thread that has ended leaves its lane to the next one, and what is in its open segment is no
// reason to grow.
TEST_P(ThreadSlots, ThreadsThatComeAndGo) {
  options o = small();
  o.size = 1 << 20;
  o.max_size = 64 << 20;
  o.segment_size = 256 << 10;
  store db(path, o);
  map<uint64_t, uint64_t> all(db, "all");
  for (uint64_t i = 0; i < 600; ++i)
    std::thread([&] {
      auto s = db.section(m);
      all.edit(i % 100) = i;
      s.commit();
    }).join();
  // (The system may take a moment to see that a thread is gone.)
  EXPECT_LE(db.info().file_size, 30 * o.segment_size);
  EXPECT_EQ(all.size(), 100U);
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

// A thread that gets a slot names the undurable objects that the slot's previous thread has
// seen.
TEST_P(ThreadSlots, AnHeirNamesWhatWasSeen) {
  {
    store db(path, small());
    map<uint64_t, uint64_t> all(db, "all");
    for (uint64_t i = 0; i < 100; ++i)
      std::thread([&] {
        auto s = db.section(m, later);
        all.edit(i) = i;
        s.commit();
      }).join();
    db.sync();
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  }
  store db(path, small());
  map<uint64_t, uint64_t> all(db, "all");
  EXPECT_EQ(all.size(), 100U);
}

}  // namespace
}  // namespace scute::pow

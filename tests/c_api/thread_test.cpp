// SPDX-License-Identifier: BSD-3-Clause
// Threads that end in the middle of things, block signals, or are cancelled.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "c_api/every_call.hpp"
#include "support/child.hpp"
#include "support/wait.hpp"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace scute::test {
using namespace core;
namespace {

constexpr uint64_t size = 5000;

struct threaded_pool : pool_file {
  using pool_file::pool_file;
  void fill(uint32_t flags = 0) {
    scute_options o = options(2 * mib);
    o.lanes = 2;
    o.flags = flags;
    create(o);
    oid = alloc(pattern(1, size));
  }
  // A transaction of each kind of change, left open.
  void leave_open(scute_tx*& tx) {
    void* to = nullptr;
    scute_oid made = 0;
    SCUTE_OKAY(scute_tx_begin(pool, &tx));
    SCUTE_OKAY(scute_tx_begin(pool, &tx));  // two levels
    SCUTE_OKAY(scute_tx_inplace(tx, oid, 0, 1000, &to));
    std::memset(to, 7, 1000);
    SCUTE_OKAY(scute_tx_add_range(tx, oid, 2000, 100, &to));
    std::memset(to, 7, 100);
    SCUTE_OKAY(scute_tx_alloc(tx, 3000, 1, &made, nullptr));
  }
  void lose_page() {
    scute_injection i;
    scute_injection_init(&i);
    i.kind = SCUTE_INJURE_LOSE_PAGE;
    i.offset = offset_of(oid) & ~uint64_t{4095};
    SCUTE_OKAY(scute_inject(pool, &i, nullptr, nullptr, nullptr));
  }
  scute_oid oid = 0;
};

struct ending {
  const char* how;
  void (*end)();
};
const ending endings[] = {
    {"returns", [] {}},
    {"pthread_exit", [] { ::pthread_exit(nullptr); }},
    {"is cancelled",
     [] {
       ::pthread_cancel(::pthread_self());
       ::pthread_testcancel();
     }},
};

// More often than there are lanes: no lane may stay taken.
TEST(ending_thread, AbortsItsTransaction) {
  for (const ending& e : endings) {
    SCOPED_TRACE(e.how);
    in_child([&] {
      threaded_pool f;
      f.fill();
      struct job {
        threaded_pool& f;
        const ending& e;
      } mine{f, e};
      for (int i = 0; i < 6; ++i) {
        pthread_t thread{};
        ASSERT_EQ(::pthread_create(
                      &thread, nullptr,
                      [](void* arg) -> void* {
                        const job& j = *static_cast<job*>(arg);
                        scute_tx* tx = nullptr;
                        j.f.leave_open(tx);
                        j.e.end();
                        return nullptr;
                      },
                      &mine),
                  0);
        ::pthread_join(thread, nullptr);
        EXPECT_TRUE(f.read(f.oid) == pattern(1, size));
      }
      EXPECT_EQ(f.stats().aborts, 6u);
      // Both lanes at once.
      scute_tx *tx = nullptr, *second = nullptr;
      SCUTE_OKAY(scute_tx_begin(f, &tx));
      std::thread([&] {
        SCUTE_OKAY(scute_tx_begin(f, &second));
        SCUTE_OKAY(scute_tx_abort(second));
      }).join();
      SCUTE_OKAY(scute_tx_abort(tx));
      f.overwrite(f.oid, pattern(2, size));
      f.expect_sound();
      f.reopen();
      EXPECT_EQ(f.info().clean, 1);
      EXPECT_TRUE(f.read(f.oid) == pattern(2, size));
      EXPECT_EQ(f.objects(), 1u);
    });
  }
}

// The pool is closed before the thread ends, after it has ended, and just then.
TEST(ending_thread, WhileThePoolIsClosed) {
  for (int round = 0; round < 60; ++round) {
    threaded_pool f;
    f.fill();
    std::atomic<int> step{0};
    std::thread leaver([&] {
      scute_tx* tx = nullptr;
      f.leave_open(tx);
      step = 1;
      while (round % 3 == 0 && step != 2) std::this_thread::yield();
    });
    while (step != 1) std::this_thread::yield();
    if (round % 3 == 1) leaver.join();
    f.close();
    step = 2;
    if (leaver.joinable()) leaver.join();
    f.open();
    EXPECT_EQ(f.info().clean, 1);
    EXPECT_TRUE(f.read(f.oid) == pattern(1, size));
    EXPECT_EQ(f.objects(), 1u);
  }
}

// Of the thread's own transactions on several pools only the open one is concerned.
TEST(ending_thread, KnowsItsPool) {
  threaded_pool f, other;
  f.fill();
  other.fill();
  std::thread([&] {
    scute_tx* tx = nullptr;
    SCUTE_OKAY(scute_tx_begin(other, &tx));
    SCUTE_OKAY(scute_tx_commit(tx));
    f.leave_open(tx);
  }).join();
  EXPECT_EQ(f.stats().aborts, 1u);
  EXPECT_EQ(other.stats().aborts, 0u);
}

// ---- signals ------------------------------------------------------------------------------------

void block_all() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}
bool blocked(int signal) {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, signal) == 1;
}

// The kernel ends a process that blocks the signal of a fault, so each case has a child.
// (SIG-1; SIG-2, in threads of the library's own)
TEST(blocked_signals, LostPagesAreRebuilt) {
  struct when {
    const char* name;
    bool known;  // the thread has called the library before it blocks them
    std::function<void(threaded_pool&)> meet;
  };
  const std::vector<when> all{
      {"read, new thread", false, [](auto& f) { f.read(f.oid); }},
      {"read", true, [](auto& f) { f.read(f.oid); }},
      {"transaction", true, [](auto& f) { f.overwrite(f.oid, pattern(1, size)); }},
      {"check", true, [](auto& f) { f.check(true); }},
      {"object", true,
       [](auto& f) {
         void* buffer = nullptr;
         SCUTE_OKAY(scute_obj_open(f, f.oid, &buffer));
         SCUTE_OKAY(scute_obj_commit(buffer));
       }},
      {"scrub in threads of the library's own", true,
       [](auto& f) {
         SCUTE_OKAY(scute_scrub_start(f, nullptr));
         SCUTE_OKAY(scute_scrub_wait(f, nullptr));
       }},
      {"in the middle of a transaction", true,
       [](auto& f) {
         scute_tx* tx = nullptr;
         void* to = nullptr;
         SCUTE_OKAY(scute_tx_begin(f, &tx));
         block_all();
         SCUTE_OKAY(scute_tx_open(tx, f.oid, &to));
         SCUTE_OKAY(scute_tx_commit(tx));
       }},
  };
  for (const when& w : all) {
    SCOPED_TRACE(w.name);
    in_child([&] {
      threaded_pool f;
      f.fill();
      f.lose_page();
      std::thread([&] {
        if (w.known) f.info();
        block_all();
        w.meet(f);
        EXPECT_FALSE(blocked(SIGSEGV));
        EXPECT_FALSE(blocked(SIGBUS));
        EXPECT_TRUE(blocked(SIGTERM)) << "it is none of ours";
      }).join();
      EXPECT_EQ(f.info().pages_repaired, 1u);
      EXPECT_TRUE(f.read(f.oid) == pattern(1, size));
      f.expect_sound();
    });
  }
}

// A program that wants the signals for itself has them.
TEST(blocked_signals, StayWithoutTheHandler) {
  in_child([] {
    block_all();
    threaded_pool f;
    f.fill(SCUTE_NO_FAULT_HANDLER);
    f.read(f.oid);
    EXPECT_TRUE(blocked(SIGSEGV));
    EXPECT_TRUE(blocked(SIGBUS));
  });
}

// ---- cancellation -------------------------------------------------------------------------------

struct cancelled_call {
  threaded_pool& f;
  const every_call& what;
  int result = 1;
};

void* call_cancelled(void* arg) {
  auto& c = *static_cast<cancelled_call*>(arg);
  call_subject s{c.f.pool, c.f.oid, nullptr, nullptr, c.f.dir.file("new"), c.f.dir.file("closed")};
  using with = every_call::with;
  if (c.what.needs == with::transaction) {
    SCUTE_OKAY_E(scute_tx_begin(s.pool, &s.tx));
  }
  if (c.what.needs == with::buffer) {
    SCUTE_OKAY_E(scute_obj_open(s.pool, s.oid, &s.buffer));
  }
  if (c.what.needs == with::scrub) {
    SCUTE_OKAY_E(scute_scrub_start(s.pool, nullptr));
  }
  ::pthread_cancel(::pthread_self());
  c.result = c.what.make(s);
  // The thread's end closes whatever is still open, or this does.
  scute_obj_discard(s.buffer);
  c.f.pool = s.pool;
  ::pthread_testcancel();
  return nullptr;
}

TEST(cancellation, NoCallIsAPointOfIt) {
  for (const auto medium : {SCUTE_MEDIUM_RAM, SCUTE_MEDIUM_FILE}) {
    threaded_pool f;
    f.fill();
    f.close();
    std::filesystem::copy_file(f.path, f.dir.file("closed"));
    const auto open = [&] {
      scute_options o = opening();
      o.medium = medium;
      SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
    };
    open();
    for (const every_call& c : every_call::all()) {
      SCOPED_TRACE(c.name);
      cancelled_call call{f, c};
      pthread_t thread{};
      void* end = nullptr;
      ASSERT_EQ(::pthread_create(&thread, nullptr, &call_cancelled, &call), 0);
      ASSERT_EQ(::pthread_join(thread, &end), 0);
      EXPECT_EQ(end, PTHREAD_CANCELED);
      EXPECT_EQ(call.result, SCUTE_OK);
      if (f.pool == nullptr) open();
    }
    f.expect_sound();
    f.close();
  }
}

// AddressSanitizer does not see that a cancelled thread leaves its frames, and stumbles over them
// when the thread ends.
void forget_frames() {
#if defined(__SANITIZE_ADDRESS__)
  __asan_handle_no_return();
#endif
}

// While a thread waits: for a lane, for a page to be rebuilt, for an answer of the program's own.
TEST(cancellation, NeitherIsWaiting) {
  threaded_pool f;
  f.fill();
  scute_tx *mine = nullptr, *other = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &mine));
  std::atomic<int> step{0};
  std::thread holder([&] {
    SCUTE_OKAY(scute_tx_begin(f, &other));
    step = 1;
    while (step != 2) std::this_thread::yield();
    SCUTE_OKAY(scute_tx_abort(other));
  });
  while (step != 1) std::this_thread::yield();
  pthread_t waiter{};
  void* end = nullptr;
  static std::atomic<int> begun{0};
  static std::atomic<pid_t> waits{0};
  ASSERT_EQ(::pthread_create(
                &waiter, nullptr,
                [](void* arg) -> void* {
                  auto& pool = *static_cast<threaded_pool*>(arg);
                  scute_tx* tx = nullptr;
                  ::pthread_cancel(::pthread_self());
                  waits = ::gettid();
                  begun = 1;
                  const int e = scute_tx_begin(pool, &tx);
                  begun = e == SCUTE_OK ? 2 : 3;
                  forget_frames();
                  ::pthread_testcancel();
                  return nullptr;
                },
                &f),
            0);
  while (begun != 1) std::this_thread::yield();
  wait_until([] { return sleeps(waits); });
  step = 2;
  holder.join();
  ::pthread_join(waiter, &end);
  EXPECT_EQ(end, PTHREAD_CANCELED);
  EXPECT_EQ(begun, 2);
  SCUTE_OKAY(scute_tx_abort(mine));
  f.lose_page();
  pthread_t reader{};
  ASSERT_EQ(::pthread_create(
                &reader, nullptr,
                [](void* arg) -> void* {
                  auto& pool = *static_cast<threaded_pool*>(arg);
                  const auto* at =
                      static_cast<const volatile unsigned char*>(scute_get(pool, pool.oid));
                  ::pthread_cancel(::pthread_self());
                  const bool right = *at == pattern(1, size)[0];  // through a pointer of its own
                  begun = right ? 4 : 5;
                  forget_frames();
                  ::pthread_testcancel();
                  return nullptr;
                },
                &f),
            0);
  ::pthread_join(reader, &end);
  EXPECT_EQ(end, PTHREAD_CANCELED);
  EXPECT_EQ(begun, 4);
  EXPECT_EQ(f.info().pages_repaired, 1u);
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test

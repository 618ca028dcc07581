// SPDX-License-Identifier: BSD-3-Clause
// Threads, handlers and deaths for real (SHIELD-2, SHIELD-5, VIEW-1, VIEW-7, FLUSH-2, REGION-2).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include "support/wait.hpp"
#include "viewed_file.hpp"

namespace scute::view_tests {
namespace {

constexpr uint64_t size = 1024 * 1024, lines = 64;

// Each thread has lines of its own, in which word 1 is stored before word 6, both with the same
// number; and it flushes line i of its lines, fenced, before it stores to the next one. A line's
// number may never be seen without those of the lines before it.
void store_in_order(viewed_file& f, view::flusher& by, unsigned thread, uint64_t number,
                    std::mutex& stores) {
  for (uint64_t i = 0; i < lines; ++i) {
    const uint64_t at = (thread * lines + i) * view::line_size;
    {
      std::unique_lock hold(stores, std::defer_lock);
      if (!view::line_copy_whole()) hold.lock();
      f.store(at + 8, number);
      f.store(at + 48, number);
    }
    if (!f.v->flush(by, at, 8) || (i % 4 == 3 && !f.v->fence(by))) ::abort();
  }
}

std::string disorder(const viewed_file& f, unsigned threads) {
  for (unsigned t = 0; t < threads; ++t)
    for (uint64_t i = 0; i < lines; ++i) {
      const uint64_t at = (t * lines + i) * view::line_size;
      if (f.durable(at + 48) > f.durable(at + 8)) return "a torn line";
      if (i >= 4 &&
          f.durable(at + 8) > f.durable((t * lines + i / 4 * 4 - 1) * view::line_size + 48))
        return "a line before one that was fenced earlier";
    }
  return {};
}

TEST(view_threads, EveryStateOfTheMediumIsInOrder) {
  constexpr unsigned threads = 4;
  viewed_file f(size, 0, 4096);
  ASSERT_TRUE(f.open().load());
  std::string wrong;
  f.medium.after = [&] {
    if (wrong.empty()) wrong = disorder(f, threads);
  };
  std::mutex stores;
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      view::flusher by;
      for (uint64_t n = 1; n <= 60; ++n) store_in_order(f, by, t, n, stores);
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(f.medium.wrong, nullptr);
  EXPECT_TRUE(f.same());
  EXPECT_LT(f.medium.commits, threads * 60 * lines / 4 + 1);
}

viewed_file* signalled = nullptr;
view::flusher signalled_by;
std::atomic<uint64_t> signals = 0;

void on_signal(int) {
  const uint64_t n = signals.fetch_add(1) + 1;
  signalled->store(size / 2, n);
  if (!signalled->v->clflush(signalled_by, size / 2, 8)) ::abort();
}

TEST(view_signals, HandlersFenceWhereverTheyInterrupt) {
  viewed_file f(size, 0, 4096);
  ASSERT_TRUE(f.open().load());
  signalled = &f;
  struct sigaction action = {}, before = {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval often = {{0, 50}, {0, 50}}, never = {};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
  std::mutex stores;
  for (uint64_t n = 1; signals <= 2000; ++n) store_in_order(f, signalled_by, 0, n, stores);
  ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
  ASSERT_EQ(::sigaction(SIGALRM, &before, nullptr), 0);
  EXPECT_EQ(f.durable(size / 2), signals.load());
  EXPECT_EQ(disorder(f, 1), "");
  ASSERT_TRUE(f.v->fence(signalled_by));
  EXPECT_TRUE(f.same());
}

// A child runs and is killed at a random moment. Its view has exactly the bytes that an
// unprotected program in shared memory would have kept.
TEST(view_deaths, NothingIsLostByAKill) {
  std::mt19937_64 random(4711);
  for (int round = 0; round < 60; ++round) {
    viewed_file f(size, 0, 4096);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (!f.open().load()) ::_exit(1);
      std::thread([&] {
        view::flusher by;
        std::mutex stores;
        for (uint64_t n = 1;; ++n) store_in_order(f, by, 1, n, stores);
      }).detach();
      view::flusher by;
      std::mutex stores;
      for (uint64_t n = 1;; ++n) {
        store_in_order(f, by, 0, n, stores);
        f.store(size / 2 + n % 1000 * 64, n);  // never flushed
        if (n % 50 == 0 && !f.v->write_back(&by, size / 2, size / 4, view::write_reason::sync))
          ::_exit(1);
      }
    }
    test::pause(std::chrono::microseconds(2000 + random() % 12000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it was to be killed";
    f.medium.recover();
    EXPECT_EQ(disorder(f, 2), "") << "after a power failure";
    const std::vector<std::byte> kept(f.seen().begin(), f.seen().end());
    auto& v = f.open();
    view::file_view::writeback_result result;
    const bool drop = round % 2 == 1;
    using lines_left = view::file_view::unflushed_lines;
    uint64_t dropped = 0;
    ASSERT_TRUE(v.crash_writeback(
        drop ? lines_left::drop : lines_left::commit, result,
        [&](uint64_t offset, std::span<const std::byte> bytes) {
          ++dropped;
          EXPECT_EQ(std::memcmp(bytes.data(), kept.data() + offset, bytes.size()), 0);
        }));
    EXPECT_TRUE(f.same());
    EXPECT_EQ(v.counters().damaged, 0U);
    EXPECT_EQ(dropped, drop ? result.unflushed : 0);
    if (!drop) {
      EXPECT_EQ(std::memcmp(kept.data(), f.medium.bytes().data(), size), 0) << round;
    }
    ASSERT_TRUE(v.load());
    view::flusher by;
    f.store(0, ~uint64_t{0});
    ASSERT_TRUE(v.clflush(by, 0, 8)) << "and it continues";
    EXPECT_EQ(f.durable(0), ~uint64_t{0});
  }
}

// On this machine: a copy is what the line was at one moment, in either order of the stores to it
// (SHIELD-5).
TEST(line_copy, IsOneMoment) {
  alignas(64) static std::array<std::atomic<uint64_t>, 8> line;
  counting_guard guard;
  for (const auto& [first, second] : {std::pair(0, 7), std::pair(7, 0), std::pair(3, 4)}) {
    for (auto& word : line) word = 0;
    std::atomic<bool> stop = false;
    std::mutex stores;
    std::thread writer([&, first = first, second = second] {
      for (uint64_t n = 1; !stop.load(std::memory_order_relaxed); ++n) {
        std::unique_lock hold(stores, std::defer_lock);
        if (!view::line_copy_whole()) hold.lock();
        line[static_cast<size_t>(first)].store(n, std::memory_order_relaxed);
        line[static_cast<size_t>(second)].store(n, std::memory_order_release);
      }
    });
    uint64_t torn = 0;
    for (int i = 0; i < 2'000'000; ++i) {
      std::unique_lock hold(stores, std::defer_lock);
      if (!view::line_copy_whole()) hold.lock();
      view::line copy;
      view::line_copy(copy, reinterpret_cast<const std::byte*>(line.data()));
      uint64_t words[8];
      std::memcpy(words, copy.bytes.data(), sizeof words);
      const uint64_t a = words[first], b = words[second];
      torn += a < b || a > b + 1;
    }
    stop = true;
    writer.join();
    EXPECT_EQ(torn, 0U) << first << " " << second;
  }
}

}  // namespace
}  // namespace scute::view_tests

// SPDX-License-Identifier: BSD-3-Clause
// How tests in C++ wait: for a condition, with a generous bound, never for a fixed time.
// (tests/support/wait.bash, wait.h and waiting.py do the same for other languages;
// tests/layout/check.sh refuses every other sleep.)
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace scute::test {

// Longer than anything takes that ends at all, on a busy machine (SCUTE_TEST_WAIT_SECONDS).
inline std::chrono::seconds patience() {
  const char* const said = std::getenv("SCUTE_TEST_WAIT_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  return std::chrono::seconds(said != nullptr ? std::strtol(said, nullptr, 10) : 120);
}

// For a length that no assertion depends on: the moment of a kill, a turn of a loop, the time that
// a disk takes.
template <typename Rep, typename Period>
void pause(std::chrono::duration<Rep, Period> length) {
  std::this_thread::sleep_for(length);
}

// False if it did not become true.
template <typename Condition>
[[nodiscard]] bool becomes_true(Condition&& condition, std::chrono::seconds most = patience()) {
  const auto end = std::chrono::steady_clock::now() + most;
  for (unsigned turns = 0; !condition(); ++turns) {
    if (std::chrono::steady_clock::now() > end) return condition();
    if (turns < 100)
      std::this_thread::yield();
    else
      pause(std::chrono::microseconds(200));
  }
  return true;
}

template <typename Condition>
void wait_until(Condition&& condition) {
  EXPECT_TRUE(becomes_true(std::forward<Condition>(condition))) << "this did not become true";
}

// The thread is off the processor, as the system says it: it does not spin.
inline bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(in, text);
  const size_t at = text.rfind(") ");
  return at != std::string::npos && text[at + 2] == 'S';
}

// All of this process but the caller's.
inline bool other_threads_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const auto number = static_cast<pid_t>(std::stol(task.path().filename().string()));
    if (number != ::gettid() && !sleeps(number)) return false;
  }
  return true;
}

// A thread that is to wait for another one. It sleeps then, or has gone on without.
class waiting_thread {
 public:
  template <typename Fn>
  explicit waiting_thread(Fn&& body)
      : thread_([this, body = std::forward<Fn>(body)]() mutable {
          number_ = ::gettid();
          body();
          ended_ = true;
        }) {}
  ~waiting_thread() {
    if (thread_.joinable()) thread_.join();
  }
  waiting_thread(const waiting_thread&) = delete;
  waiting_thread& operator=(const waiting_thread&) = delete;

  bool waits() const { return sleeps(number_); }
  // False if it ends without.
  [[nodiscard]] bool comes_to_wait() const {
    return becomes_true([&] { return ended_ || waits(); }) && !ended_;
  }
  // For a lock that sleeps nowhere: the thread has spent some milliseconds of its own on a
  // processor since it was asked for here.
  [[nodiscard]] bool comes_to_spin() {
    timespec begin{};
    clockid_t clock{};
    if (::pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 ||
        ::clock_gettime(clock, &begin) != 0)
      return false;
    return becomes_true([&] {
             timespec now{};
             ::clock_gettime(clock, &now);
             return ended_ ||
                    (now.tv_sec - begin.tv_sec) * 1'000'000'000 + now.tv_nsec - begin.tv_nsec >
                        3'000'000;
           }) &&
           !ended_;
  }
  // Either is fine.
  void ends_or_waits() const { static_cast<void>(comes_to_wait()); }
  bool has_ended() const { return ended_; }
  void join() { thread_.join(); }

 private:
  std::atomic<pid_t> number_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace scute::test

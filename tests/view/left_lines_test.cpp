// SPDX-License-Identifier: BSD-3-Clause
// Lines that a program leaves to others to make durable: lines without a fence, and lines that were
// flushed too early (AUDIT-6, AUDIT-7, AUDIT-8).
#include <gtest/gtest.h>

#include <thread>
#include <tuple>
#include <vector>

#include "viewed_file.hpp"

namespace scute::view_tests {
namespace {

using view::left_as;
using view::write_reason;
constexpr uint64_t mib = 1 << 20;

class memory_watch final : public view::line_watch {
 public:
  explicit memory_watch(uint64_t lines)
      : memory_(view::flushed_contents::size(lines), view::flushed_contents::size(lines)),
        contents_(memory_.bytes(), lines) {}
  void flushed(uint64_t, bool) noexcept override {}
  void fenced(bool) noexcept override {}
  view::flushed_contents* contents() noexcept override { return &contents_; }
  void commit_set_begins() noexcept override {}
  void commit_set_has(uint64_t, bool) noexcept override {}
  void commit_set_decided(uint64_t) noexcept override {}
  bool may_commit() noexcept override { return true; }

 private:
  memory_file memory_;
  view::flushed_contents contents_;
};

struct kept_lines final : view::audit_sink {
  bool left(uint64_t offset, uint32_t length, left_as how) noexcept override {
    EXPECT_EQ(length, 64u);
    all.emplace_back(offset, how);
    return offset == masked;
  }
  std::vector<std::pair<uint64_t, left_as>> all;
  uint64_t masked = UINT64_MAX;
};

class left_lines : public ::testing::Test {
 protected:
  left_lines() {
    f.watch = &watch;
    f.sink = &sink;
    v = &f.open();
    EXPECT_TRUE(v->load());
  }
  void expect(uint64_t unflushed, uint64_t unfenced, uint64_t early) {
    const view::audit_counters c = v->counters();
    EXPECT_EQ(c.never_flushed - c.masked, unflushed);
    EXPECT_EQ(c.never_fenced, unfenced);
    EXPECT_EQ(c.flushed_early, early);
    EXPECT_TRUE(f.same());
  }
  bool end(write_reason why = write_reason::end, uint64_t offset = 0, uint64_t n = mib) {
    return v->write_back(nullptr, offset, n, why);
  }
  // After a death, by a supervisor.
  bool crash_writeback(
      view::file_view::unflushed_lines what = view::file_view::unflushed_lines::commit) {
    v = &f.open();
    return v->crash_writeback(what, result);
  }

  memory_watch watch{mib / 64};
  kept_lines sink;
  viewed_file f{mib};
  view::file_view* v = nullptr;
  view::flusher t, other;
  view::file_view::writeback_result result;
};

TEST_F(left_lines, FlushedAndNeverFenced) {
  f.store(64, 1);
  f.store(4096, 1);
  ASSERT_TRUE(v->flush(t, 64, 8) && v->flush(t, 4096, 8) && v->flush(other, 64, 8));
  ASSERT_TRUE(v->flush(t, 8192, 8));  // holds what the file holds
  ASSERT_TRUE(end(write_reason::unmap, 0, 4096));
  expect(0, 1, 0);
  ASSERT_EQ(sink.all.size(), 1u);
  EXPECT_EQ(sink.all[0], std::pair(uint64_t{64}, left_as::never_fenced));
  ASSERT_TRUE(end());
  expect(0, 1, 0);  // the commit set has taken the others
}

TEST_F(left_lines, AFenceOfAnyThreadIsOne) {
  f.store(64, 1);
  f.store(128, 1);
  ASSERT_TRUE(v->flush(t, 64, 8) && v->clflush(other, 128, 8));
  ASSERT_TRUE(end());
  expect(0, 0, 0);
  f.store(64, 2);
  ASSERT_TRUE(v->flush(t, 64, 8) && end(write_reason::sync, 64, 64) && end());
  expect(0, 0, 0);
}

// Nor what the sink takes upon itself; it is counted nowhere.
TEST_F(left_lines, LinesLeftByDesignAreNoMistake) {
  sink.masked = 64;
  f.store(64, 1);
  ASSERT_TRUE(v->flush(t, 64, 8) && end());
  expect(0, 0, 0);
}

// A fence that a window puts off has been one for the program, also where the window never ends.
TEST_F(left_lines, FencesThatArePutOff) {
  v->window_begin(t);
  f.store(64, 1);
  ASSERT_TRUE(v->clflush(t, 64, 8));
  f.store(128, 1);
  ASSERT_TRUE(v->flush(t, 128, 8));
  ASSERT_TRUE(end());
  expect(0, 1, 0);
  EXPECT_EQ(sink.all[0], std::pair(uint64_t{128}, left_as::never_fenced));
}

TEST_F(left_lines, FlushedTooEarly) {
  f.store(64, 1);
  ASSERT_TRUE(v->flush(t, 64, 8));
  f.store(72, 1);
  ASSERT_TRUE(v->fence(t));
  expect(0, 0, 0);  // the program may flush it yet
  ASSERT_TRUE(end());
  expect(1, 0, 1);
  EXPECT_EQ(sink.all[0], std::pair(uint64_t{64}, left_as::flushed_early));
  ASSERT_TRUE(end());
  expect(1, 0, 1);  // once
}

TEST_F(left_lines, RepairedByALaterFlushOrASync) {
  const auto early = [&](uint64_t value) {
    f.store(64, value);
    ASSERT_TRUE(v->flush(t, 64, 8));
    f.store(72, value);
    ASSERT_TRUE(v->fence(t));
  };
  early(1);
  ASSERT_TRUE(v->clflush(other, 64, 8) && end());
  expect(0, 0, 0);
  early(2);
  ASSERT_TRUE(end(write_reason::sync, 0, 4096) && end());
  expect(0, 0, 0);
  early(3);
  ASSERT_TRUE(end(write_reason::sync, 4096, 4096) && end());
  expect(1, 0, 1);  // of other lines
}

// One that differs from the file is never flushed, and nothing else.
TEST_F(left_lines, StoredToAgainAfterItsFence) {
  f.store(64, 1);
  ASSERT_TRUE(v->clflush(t, 64, 8));
  f.store(72, 1);
  ASSERT_TRUE(end());
  expect(1, 0, 0);
}

TEST_F(left_lines, ADeathIsAnEnd) {
  f.store(64, 1);
  ASSERT_TRUE(v->flush(t, 64, 8));
  f.store(72, 1);
  ASSERT_TRUE(v->fence(t));
  f.store(128, 1);
  f.store(192, 1);
  ASSERT_TRUE(v->flush(t, 192, 8));
  ASSERT_TRUE(crash_writeback());
  EXPECT_EQ(result.unflushed, 1u);
  expect(2, 1, 1);
  const std::vector<std::pair<uint64_t, left_as>> wanted = {
      {192, left_as::never_fenced}, {128, left_as::never_flushed}, {64, left_as::flushed_early}};
  EXPECT_EQ(sink.all, wanted);
}

TEST_F(left_lines, ADeathInAWindow) {
  v->window_begin(t);
  f.store(64, 1);
  ASSERT_TRUE(v->clflush(t, 64, 8));
  f.store(128, 1);
  ASSERT_TRUE(crash_writeback(view::file_view::unflushed_lines::drop));
  EXPECT_EQ(result.unflushed, 1u);  // the caller that drops them counts them
  expect(0, 0, 0);
}

// Halves of lines are of two threads, each of which flushes its own when it has stored to it.
TEST_F(left_lines, ThreadsThatShareLinesMakeNoMistake) {
  for (unsigned round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (unsigned half = 0; half < 2; ++half)
      threads.emplace_back([&, half] {
        view::flusher by;
        for (uint64_t i = 0; i < 2000; ++i) {
          const uint64_t at = 64 * (i % 3) + 32 * half;
          f.store(at, round * 10000 + i + 1);
          ASSERT_TRUE(v->clflush(by, at, 8));
        }
      });
    for (std::thread& one : threads) one.join();
    ASSERT_TRUE(end());
    expect(0, 0, 0);
  }
}

}  // namespace
}  // namespace scute::view_tests

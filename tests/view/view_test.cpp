// SPDX-License-Identifier: BSD-3-Clause
// One thread: what is committed when, and what is counted
// (SHIELD-1, SHIELD-3, SHIELD-4, SHIELD-6, BACKING-1, BACKING-2, BACKING-3).
#include <gtest/gtest.h>

#include <sys/stat.h>
#include "base/failure.hpp"

#include "viewed_file.hpp"

namespace scute::view_tests {
namespace {

using view::write_reason;
constexpr uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

TEST(view, CommitsWhatWasFlushedAtTheFence) {
  viewed_file f(mib);
  auto& v = f.open();
  view::flusher t;
  ASSERT_TRUE(v.load());
  f.store(128, 7);
  f.store(192, 8);
  ASSERT_TRUE(v.flush(t, 128, 8));
  EXPECT_EQ(f.durable(128), 0U);
  ASSERT_TRUE(v.fence(t));
  EXPECT_EQ(f.durable(128), 7U);
  EXPECT_EQ(f.durable(192), 0U) << "no thread flushed it";
  ASSERT_TRUE(v.clflush(t, 192, 1));
  EXPECT_EQ(f.durable(192), 8U);
  EXPECT_EQ(f.medium.commits, 2U);
}

TEST(view, AFlushTakesEveryLineThatHasAByteOfTheRange) {
  viewed_file f(mib);
  auto& v = f.open();
  view::flusher t;
  ASSERT_TRUE(v.load());
  for (uint64_t at = 0; at < 512; at += 64) f.store(at, at + 1);
  ASSERT_TRUE(v.nt_store(t, 127, 66));  // lines 1 to 3
  ASSERT_TRUE(v.fence(t));
  for (uint64_t i = 0; i < 8; ++i)
    EXPECT_EQ(f.durable(64 * i), i >= 1 && i <= 3 ? 64 * i + 1 : 0) << i;
}

TEST(view, CountsForTheAudit) {
  viewed_file f(mib);
  auto& v = f.open();
  view::flusher t;
  ASSERT_TRUE(v.load());
  ASSERT_TRUE(v.fence(t));
  EXPECT_EQ(v.counters().fences_idle, 1U);
  f.store(0, 1);
  ASSERT_TRUE(v.flush(t, 0, 8) && v.flush(t, 8, 8));
  EXPECT_EQ(v.counters().flushed_twice, 1U);
  ASSERT_TRUE(v.clflush(t, 640, 8));
  EXPECT_EQ(v.counters().unchanged, 1U);
  EXPECT_EQ(v.counters().lines, 1U);
  struct : view::audit_sink {
    bool left(uint64_t offset, uint32_t length, view::left_as how) noexcept override {
      EXPECT_EQ(how, view::left_as::never_flushed);
      reported.emplace_back(offset, length);
      return offset == 8192;
    }
    std::vector<std::pair<uint64_t, uint32_t>> reported;
  } sink;
  f.sink = &sink;
  auto& w = f.open();
  f.store(4096, 1);
  f.store(8192, 1);
  f.store(12288, 1);
  ASSERT_TRUE(w.write_back(&t, 4096, 4096, write_reason::sync));
  ASSERT_TRUE(w.write_back(&t, 0, mib, write_reason::end));
  EXPECT_EQ(w.counters().synced, 1U);
  EXPECT_EQ(w.counters().never_flushed, 2U);
  EXPECT_EQ(w.counters().masked, 1U);
  ASSERT_EQ(sink.reported.size(), 2U);
  EXPECT_EQ(sink.reported[0], std::make_pair(uint64_t{8192}, uint32_t{64}));
  EXPECT_TRUE(f.same());
}

TEST(view, WindowsPutFencesOffToTheOutermostEnd) {
  viewed_file f(mib);
  auto& v = f.open();
  view::flusher t, other;
  ASSERT_TRUE(v.load());
  v.window_begin(t);
  v.window_begin(t);
  f.store(0, 1);
  ASSERT_TRUE(v.clflush(t, 0, 8));
  ASSERT_TRUE(v.window_end(t));
  EXPECT_EQ(f.durable(0), 0U);
  f.store(64, 2);
  ASSERT_TRUE(v.flush(t, 64, 8));
  ASSERT_TRUE(v.window_end(t));
  EXPECT_EQ(f.durable(0), 1U);
  EXPECT_EQ(f.durable(64), 2U);
  EXPECT_EQ(f.medium.commits, 1U);
  // Another thread's window blocks no thread.
  v.window_begin(t);
  f.store(0, 3);
  ASSERT_TRUE(v.clflush(other, 0, 8));
  EXPECT_EQ(f.durable(0), 3U);
  ASSERT_TRUE(v.window_end(t));
}

TEST(view, AFullListMakesACommitSet) {
  viewed_file f(mib);  // lists of 16
  auto& v = f.open();
  view::flusher t;
  ASSERT_TRUE(v.load());
  v.window_begin(t);
  for (uint64_t at = 0; at < 64 * kib; at += 64) f.store(at, at + 1);
  ASSERT_TRUE(v.flush(t, 0, 64 * kib) && v.fence(t));
  EXPECT_GE(v.counters().lists_full, 60U);
  ASSERT_TRUE(v.window_end(t));
  EXPECT_TRUE(f.same());
}

TEST(view, AFailingBackingFailsTheFenceAndKeepsTheLines) {
  viewed_file f(mib);
  auto& v = f.open();
  view::flusher t, other;
  ASSERT_TRUE(v.load());
  f.medium.failing = true;
  for (uint64_t i = 0; i < 10; ++i) f.store(64 * i, i + 1);
  ASSERT_TRUE(v.flush(t, 0, 640));
  EXPECT_FALSE(v.fence(t));
  EXPECT_FALSE(v.fence(t));
  EXPECT_FALSE(v.clflush(other, 640, 8));
  EXPECT_FALSE(v.write_back(&t, 0, mib, write_reason::sync));
  EXPECT_FALSE(v.grow(2 * mib));
  f.medium.failing = false;
  ASSERT_TRUE(v.fence(t));
  EXPECT_TRUE(f.same());
  f.medium.failing = true;
  f.store(0, 77);
  ASSERT_TRUE(v.flush(t, 0, 1));
  ASSERT_FALSE(v.fence(t));
  f.medium.failing = false;
  ASSERT_TRUE(v.clflush(other, 6400, 8)) << "another thread's commit set takes it along";
  EXPECT_EQ(f.durable(0), 77U);
}

// VIEW-10. The next opening does not find the state that the program rolled back, and does not
// trust the digests of before.
TEST(view, ACommitThatFailedMayHaveBeenDecided) {
  for (const bool writes_back : {false, true}) {
    viewed_file f(mib);
    view::flusher t;
    auto& v = f.open();
    ASSERT_TRUE(v.load());
    f.store(128, 1);
    ASSERT_TRUE(v.clflush(t, 128, 8));
    f.medium.fails_decided = true;
    f.store(128, 2);
    f.store(4096, 3);
    ASSERT_TRUE(v.flush(t, 128, 8) && v.flush(t, 4096, 8));
    ASSERT_FALSE(v.fence(t));
    EXPECT_EQ(f.durable(128), 2U);
    f.store(128, 1);
    f.store(4096, 0);
    EXPECT_FALSE(v.fence(t));
    EXPECT_FALSE(v.write_back(&t, 0, mib, write_reason::sync));
    EXPECT_FALSE(v.clflush(t, 128, 8));
    EXPECT_FALSE(v.clflush(t, 640, 8)) << "nothing of it has changed";
    f.medium.failing = f.medium.fails_decided = false;
    if (writes_back) {
      auto& next = f.open();
      view::file_view::writeback_result result;
      ASSERT_TRUE(next.crash_writeback(view::file_view::unflushed_lines::commit, result));
      EXPECT_GE(result.flushed, 2U);
    } else {
      ASSERT_TRUE(v.write_back(&t, 0, mib, write_reason::sync));
    }
    EXPECT_EQ(f.durable(128), 1U);
    EXPECT_EQ(f.durable(4096), 0U);
    EXPECT_TRUE(f.same());
  }
}

// The bytes that were protected already, and not yet in the view.
TEST(view, GrowsAfterADeathInAGrowth) {
  viewed_file f(mib, 2 * mib);
  ASSERT_TRUE(f.open().load());
  ASSERT_TRUE(f.medium.grow(2 * mib));
  ASSERT_EQ(::ftruncate(f.content.file(), 2 * mib), 0);
  auto& v = f.open();
  EXPECT_EQ(v.size(), mib);
  ASSERT_TRUE(v.grow(2 * mib) && v.load());
  EXPECT_EQ(v.size(), 2 * mib);
  view::flusher t;
  f.store(2 * mib - 64, 5);
  ASSERT_TRUE(v.clflush(t, 2 * mib - 64, 8));
  EXPECT_EQ(f.durable(2 * mib - 64), 5U);
}

// A word can take another one's part in the digest if its author knows the constants. With a key
// it cannot.
TEST(digest, CollisionsCannotBeChosen) {
  view::line a{}, b{};
  const uint64_t word = 0x40a7b892e31b1a47, one = 1, other = 999;
  std::memcpy(a.bytes.data(), &one, 8);
  std::memcpy(b.bytes.data(), &other, 8);
  std::memcpy(a.bytes.data() + 8, &word, 8);
  std::memcpy(b.bytes.data() + 8, &word, 8);
  EXPECT_NE(view::digest_key(3).of(a), view::digest_key(3).of(b));
  EXPECT_NE(view::digest_key(3).of(a), view::digest_key(4).of(a));
  viewed_file f(mib), g(mib);
  f.open();
  g.open();
  EXPECT_NE(view::region(f.control.bytes()).head().seed,
            view::region(g.control.bytes()).head().seed);
}

TEST(view, DamageIsRepairedBeforeAnythingRestsOnIt) {
  for (const bool raw : {true, false}) {
    viewed_file f(mib);
    f.medium.with_raw = raw;
    auto& v = f.open();
    view::flusher t;
    ASSERT_TRUE(v.load());
    f.medium.damage(8);
    f.store(0, 5);
    ASSERT_TRUE(v.clflush(t, 0, 8));
    EXPECT_EQ(f.medium.wrong, nullptr);
    EXPECT_EQ(f.medium.repairs, 1U);
    EXPECT_TRUE(f.same());
    f.medium.damage(8);
    f.medium.lost = true;
    f.store(0, 6);
    EXPECT_FALSE(v.clflush(t, 0, 8)) << "nothing is made official that rests on lost bytes";
    f.medium.lost = false;
    EXPECT_TRUE(v.fence(t));
    EXPECT_TRUE(f.same());
  }
}

TEST(view, FilesEndAnywhereAndGrow) {
  viewed_file f(5000, 8 * mib);
  auto& v = f.open();
  view::flusher t;
  ASSERT_TRUE(v.load());
  std::memset(f.content.data() + 4900, 0xee, 200);  // after the end as well
  ASSERT_TRUE(v.flush(t, 4900, 200) && v.fence(t));
  EXPECT_TRUE(f.same());
  ASSERT_EQ(::ftruncate(f.content.file(), 4 * mib), 0);
  ASSERT_TRUE(v.grow(4 * mib));
  EXPECT_EQ(f.content.data()[5000], std::byte{0xee})
      << "only the kernel knows which program has put it there (GROW-1)";
  EXPECT_EQ(f.durable(5000), 0U) << "it was never of the file";
  ASSERT_TRUE(v.load() && v.write_back(&t, 4900, 200, write_reason::sync));
  EXPECT_TRUE(f.same());
  f.store(4 * mib - 8, 9);
  ASSERT_TRUE(v.clflush(t, 4 * mib - 8, 8));
  EXPECT_TRUE(f.same());
  EXPECT_FALSE(v.grow(9 * mib)) << "beyond its capacity";
  EXPECT_FALSE(v.grow(mib)) << "never shorter";
  EXPECT_EQ(v.size(), 4 * mib);
}

TEST(view, HolesOfLargeFilesCostNothing) {
  viewed_file f(3 * gib, 0, 65536);
  f.medium.with_holes = true;
  f.medium.data_end = mib;
  const uint64_t seven = 7;
  f.medium.put(4096, std::as_bytes(std::span(&seven, 1)));
  auto& v = f.open();
  view::flusher t;
  ASSERT_TRUE(v.load());
  EXPECT_EQ(f.word(4096), 7U);
  f.store(2 * gib, 1);
  f.store(3 * gib - 8, 2);
  ASSERT_TRUE(v.clflush(t, 2 * gib, 8));
  ASSERT_TRUE(v.write_back(&t, 0, 3 * gib, write_reason::end));
  EXPECT_EQ(f.durable(2 * gib), 1U);
  EXPECT_EQ(f.durable(3 * gib - 8), 2U);
  struct stat content = {}, control = {};
  ASSERT_EQ(::fstat(f.content.file(), &content), 0);
  ASSERT_EQ(::fstat(f.control.file(), &control), 0);
  EXPECT_LT(content.st_blocks * 512, int64_t{4 * mib});
  EXPECT_LT(control.st_blocks * 512, int64_t{16 * mib});
}

// A medium that has blocks everywhere, most of them zeros: as a pool that was made and hardly used.
TEST(view, PagesOfZerosStayHolesOfTheView) {
  viewed_file f(64 * mib, 0, 65536);
  const uint64_t seven = 7;
  f.medium.put(4096, std::as_bytes(std::span(&seven, 1)));
  auto& v = f.open();
  view::flusher t;
  const auto taken = [&] {
    struct stat content = {};
    if (::fstat(f.content.file(), &content) != 0) ::abort();
    return content.st_blocks * 512;
  };
  ASSERT_TRUE(v.load());
  EXPECT_EQ(taken(), 4096);
  ASSERT_TRUE(v.write_back(&t, 0, 64 * mib, write_reason::end));
  EXPECT_EQ(taken(), 4096);
  // Stored to without a flush, flushed, and given back to zeros.
  f.store(32 * mib, 1);
  ASSERT_TRUE(v.write_back(&t, 0, 64 * mib, write_reason::end));
  EXPECT_EQ(f.durable(32 * mib), 1U);
  f.store(48 * mib, 2);
  ASSERT_TRUE(v.clflush(t, 48 * mib, 8));
  EXPECT_EQ(f.durable(48 * mib), 2U);
  f.store(48 * mib, 0);
  f.store(32 * mib, 0);
  ASSERT_TRUE(v.write_back(&t, 0, 64 * mib, write_reason::end));
  EXPECT_EQ(f.durable(32 * mib), 0U);
  EXPECT_EQ(f.durable(48 * mib), 0U);
  ASSERT_EQ(::fallocate(f.content.file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096),
            0);
  ASSERT_TRUE(v.write_back(&t, 0, 64 * mib, write_reason::end));
  EXPECT_EQ(f.durable(4096), 0U) << "a hole that the program has made";
}

TEST(view, AbsentPagesAreLeftAlone) {
  viewed_file f(mib);
  std::vector<std::byte> all(mib, std::byte{0x5a});
  f.medium.put(0, all);
  auto& v = f.open();
  view::flusher t;
  ASSERT_TRUE(v.load(8192, 1));
  ASSERT_TRUE(v.clflush(t, 0, mib));
  ASSERT_TRUE(v.write_back(&t, 0, mib, write_reason::end));
  EXPECT_EQ(f.medium.lines, 0U) << "VIEW-8";
  ASSERT_TRUE(v.load());
  EXPECT_TRUE(f.same());
}

TEST(view, RegionsThatAreNoneAreRefused) {
  viewed_file f(mib);
  std::memset(f.control.data(), 0, 8);  // REGION-1
  EXPECT_THROW(f.open(), failure);
  viewed_file small(mib);
  EXPECT_THROW(view::region(small.control.bytes().first(4096)), failure);
  memory_backing few(mib, mib, 64);
  EXPECT_THROW(view::file_view::shape_for(few, mib), failure);
}

TEST(digest, DistinguishesLines) {
  view::line l = {};
  EXPECT_EQ(view::digest_key(7).of(l), 0U);
  std::vector<uint64_t> seen = {0};
  for (unsigned bit = 0; bit < 512; ++bit) {
    view::line one = {};
    one.bytes[bit / 8] = static_cast<std::byte>(1U << bit % 8);
    seen.push_back(view::digest_key(7).of(one));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

}  // namespace
}  // namespace scute::view_tests

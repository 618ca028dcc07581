// SPDX-License-Identifier: BSD-3-Clause
// Pages lost in the middle of a log-free commit (N3, pool/hold.hpp): laid out by hand at every phase, in
// real commits before and between the phases, and by another thread at any moment.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "heal/page_repair.hpp"
#include "pool/columns.hpp"
#include "pool/hold.hpp"
#include "pool/library_call.hpp"
#include "pool/window.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t column = 20 * page;
using phase = pool::hold::phase;
using image = std::array<std::byte, page>;

// Space that no object lies in, with noise in all rows of a column block. Three pieces of a window in it:
// two in one row, one between them in another row.
class window_page : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    scute_options o = options(2 * mib);
    o.engine = SCUTE_ENGINE_LOGFREE;
    o.rows = 4;
    o.lanes = 4;
    if (GetParam()) o.flags |= SCUTE_PLAIN_ENCODING;
    f.create(o);
    s = &f.in().s;
    f.in().idle.stop();
    for (auto& end : s->used_end) end.store(s->geo.data_size);
    for (uint64_t row = 0; row < 4; ++row) commit({{at(row), row, page}});
  }
  void TearDown() override {
    f.in().drain();
    EXPECT_TRUE(pool::column_consistent(*s, 0, column, page));
  }

  struct write {
    uint64_t offset, key;
    uint32_t length;
  };
  uint64_t at(uint64_t row, uint64_t inside = 0) const {
    return s->geo.zone_offset(0) + row * s->geo.row_size + column + inside;
  }
  uint64_t parity() const { return at(4); }  // the row behind the data rows
  pool::lane& lane() { return s->lanes[0]; }

  // The commit of engine::logfree up to the locks, and the rest of it.
  void begin(const std::vector<write>& writes) {
    contents.clear();
    std::vector<pool::patch> patches;
    std::vector<pool::extent> extents;
    for (const write& w : writes) contents.push_back(pattern(w.key, w.length));
    for (size_t i = 0; i < writes.size(); ++i) {
      patches.push_back(
          {writes[i].offset, contents[i].data(), writes[i].length, medium::purpose::data});
      extents.push_back({writes[i].offset, writes[i].length});
    }
    ASSERT_TRUE(pool::plan(*s, lane(), extents));
    pool::split(*s, lane(), patches);
    ASSERT_EQ(lane().pieces.size(), writes.size());
    pool::prepare_deltas(*s, lane());
    const bool before = pool::take_back(lane());
    pool::enter(*s, lane(), before);
  }
  void data() { pool::write_data(*s, lane()); }
  void fence() {
    lane().w.fence();
    pool::release_last(*s, lane());
  }
  void parities() {
    pool::write_parity(*s, lane());
    pool::defer(lane());
  }
  void commit(const std::vector<write>& writes) {
    begin(writes);
    data();
    fence();
    parities();
    pool::drain(*s, lane());
  }

  image look(uint64_t offset) const {
    image now;
    std::memcpy(now.data(), f.raw(offset & ~(page - 1)), page);
    return now;
  }
  // A read that the compiler does not leave out.
  void touch(uint64_t offset) const {
    static_cast<void>(*reinterpret_cast<const volatile std::byte*>(f.raw(offset)));
  }
  void lose(uint64_t offset) {
    const bytes noise = pattern(offset, page);
    s->medium->lose_page(offset & ~(page - 1), reinterpret_cast<const std::byte*>(noise.data()));
  }

  pool_file f;
  pool::state* s = nullptr;
  std::vector<bytes> contents;
};

// ---- by hand ------------------------------------------------------------------------------------------

class by_hand : public window_page {
 protected:
  void SetUp() override {
    window_page::SetUp();
    for (uint64_t row = 0; row < 5; ++row) before[row] = look(at(row));
    begin({{at(1, 10), 101, 90}, {at(2, 200), 102, 700}, {at(1, 1000), 103, 300}});
  }
  void TearDown() override {
    put_all();
    pool::leave(*s, lane());
    window_page::TearDown();
  }
  // What the deltas are once they have been computed.
  std::byte delta(size_t piece, size_t i) const {
    const auto& p = lane_const().pieces[piece];
    const uint64_t row = piece == 1 ? 2 : 1;
    return before[row][p.offset % page + i] ^ p.src[i];
  }
  const pool::lane& lane_const() const { return s->lanes[0]; }

  // The medium and the lane as they are when `done` bytes of `piece` are written in that phase.
  void put(phase now, size_t piece, uint32_t done) {
    for (uint64_t row = 0; row < 5; ++row) std::memcpy(f.raw(at(row)), before[row].data(), page);
    for (size_t k = 0; k < lane().pieces.size(); ++k) {
      const auto& p = lane().pieces[k];
      const uint32_t of_data = now != phase::data ? p.length
                               : k < piece        ? p.length
                               : k == piece       ? done
                                                  : 0;
      const uint32_t of_parity = now == phase::data ? 0
                                 : k < piece        ? p.length
                                 : k == piece       ? done
                                                    : 0;
      std::memcpy(f.raw(p.offset), p.src, of_data);
      for (uint32_t i = 0; i < of_data; ++i) p.delta[i] = delta(k, i);
      for (uint32_t i = 0; i < of_parity; ++i) f.raw(p.parity)[i] ^= delta(k, i);
    }
  }
  void put_all() { put(phase::parity, lane().pieces.size(), 0); }

  // Every page of the column is lost in turn, and must come back as it was.
  void expect_all_back(phase now, size_t piece, uint32_t done) {
    put(now, piece, done);
    for (uint64_t row = 0; row < 5; ++row) {
      const image want = look(at(row));
      const pool::library_call within;
      const pool::holding here(*s, lane(), now);
      lane().progress.begin(piece, done);
      lose(at(row));
      ASSERT_TRUE(s->medium->is_revoked(at(row)));
      ASSERT_TRUE(look(at(row)) == want)
          << "row " << row << ", piece " << piece << ", " << done << " bytes";
    }
  }

  std::array<image, 5> before{};
};

TEST_P(by_hand, BeforeAndAfterTheWrites) {
  expect_all_back(phase::data, 0, 0);
  for (const bool all : {false, true}) {
    all ? put_all() : put(phase::data, 0, 0);
    for (uint64_t row = 0; row < 5; ++row) {
      const image want = look(at(row));
      const pool::library_call within;
      const pool::holding here(*s, lane(), phase::reading);
      lose(at(row));
      EXPECT_TRUE(look(at(row)) == want) << row;
    }
  }
}

TEST_P(by_hand, InTheDataPhase) {
  for (size_t piece = 0; piece < 3; ++piece) {
    const auto& p = lane().pieces[piece];
    const auto first = static_cast<uint32_t>(64 - p.offset % 64);
    for (const uint32_t done : {0u, first, first + 64, p.length})
      expect_all_back(phase::data, piece, std::min(done, p.length));
  }
  // Every line of the one in the middle.
  for (uint32_t done = 56; done < 700; done += 64) expect_all_back(phase::data, 1, done);
}

TEST_P(by_hand, InTheParityPhase) {
  for (size_t piece = 0; piece < 3; ++piece) {
    const auto& p = lane().pieces[piece];
    const auto first = static_cast<uint32_t>(64 - p.parity % 64);
    for (const uint32_t done : {0u, first, first + 64, p.length})
      expect_all_back(phase::parity, piece, std::min(done, p.length));
  }
  for (uint32_t done = 56; done < 700; done += 64) expect_all_back(phase::parity, 1, done);
}

// A line that has been told and not yet been stored: of the page that is written itself, the bytes may
// come back as either, and are stored next.
TEST_P(by_hand, BetweenTellingAndStoring) {
  for (const uint32_t done : {56u, 120u, 376u, 700u}) {
    const uint32_t stored = done == 700 ? 696 : done - 64 > done ? 0 : done - 64;
    put(phase::data, 1, stored);
    for (uint32_t i = 0; i < done; ++i) lane().pieces[1].delta[i] = delta(1, i);
    image want = look(at(2));
    std::memcpy(want.data() + 200, lane().pieces[1].src, done);
    {
      const pool::library_call within;
      const pool::holding here(*s, lane(), phase::data);
      lane().progress.begin(1, done);
      lose(at(2));
      EXPECT_TRUE(look(at(2)) == want) << done;
    }
    put(phase::parity, 1, stored);
    want = look(parity());
    for (uint32_t i = stored; i < done; ++i) want[200 + i] ^= delta(1, i);
    const pool::library_call within;
    const pool::holding here(*s, lane(), phase::parity);
    lane().progress.begin(1, done);
    lose(parity());
    EXPECT_TRUE(look(parity()) == want) << done;
  }
}

// ---- in commits ---------------------------------------------------------------------------------------

class in_commit : public window_page {
 protected:
  void run(const std::function<void(int step)>& at_step) {
    const pool::library_call within;
    const std::vector<write> writes{
        {at(1, 10), key, 90}, {at(2, 200), key + 1, 700}, {at(1, 1000), key + 2, 3000}};
    key += 3;
    begin(writes);
    at_step(0);
    data();
    at_step(1);
    fence();
    at_step(2);
    parities();
    at_step(3);
    pool::drain(*s, lane());
    for (size_t i = 0; i < writes.size(); ++i)
      EXPECT_EQ(0, std::memcmp(f.raw(writes[i].offset), contents[i].data(), writes[i].length)) << i;
    EXPECT_TRUE(pool::column_consistent(*s, 0, column, page));
  }
  uint64_t key = 1000;
};

TEST_P(in_commit, EachPageAtEachStep) {
  for (int step = 0; step < 4; ++step)
    for (uint64_t row = 0; row < 5; ++row) {
      SCOPED_TRACE("row " + std::to_string(row) + " at step " + std::to_string(step));
      const auto healed = f.in().pages->healed.load();
      run([&](int now) {
        if (now == step) lose(at(row));
      });
      EXPECT_EQ(f.in().pages->healed.load() - healed, 1u);
    }
}

// One page at a time, at any instruction of the commits.
TEST_P(in_commit, AnyPageAtAnyMoment) {
  SCUTE_RANDOM(random);
  random_source mine(random);
  std::atomic<bool> over{false};
  std::atomic<uint64_t> losses{0};
  std::thread other([&] {
    while (!over) {
      const uint64_t p = at(mine.between(0, 4));
      for (uint64_t i = mine.between(0, 2000); i != 0; --i) asm volatile("");
      lose(p);
      ++losses;
      // Two at a time would be too many for one row of parity.
      while (s->medium->is_revoked(p)) {
        if (over) {
          const pool::library_call within;
          touch(p);
        }
        std::this_thread::yield();
      }
    }
  });
  for (int i = 0; (i < 300 || losses < 300) && !HasFailure(); ++i) {
    run([](int) {});
    // Rows that the commits do not touch come back when they are read.
    const pool::library_call within;
    for (uint64_t row = 0; row < 5; ++row) touch(at(row));
  }
  over = true;
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Encoding, by_hand, testing::Bool(),
                         [](const auto& p) { return p.param ? "plain" : "pipelined"; });
INSTANTIATE_TEST_SUITE_P(Encoding, in_commit, testing::Bool(),
                         [](const auto& p) { return p.param ? "plain" : "pipelined"; });

}  // namespace
}  // namespace scute::test

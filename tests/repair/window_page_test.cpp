// SPDX-License-Identifier: BSD-3-Clause
// Pages lost in the middle of a log-free commit (PAGE-3, core/shared/parity/in_flight_write.hpp):
// laid out by hand at every phase, in real commits before and between the phases, and by another
// thread at any moment.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <thread>

#include "codec/parity/galois.hpp"
#include "codec/parity/reed_solomon.hpp"
#include "core/engine/logfree/window.hpp"
#include "core/repair/page_repair.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/pool/library_call.hpp"
#include "support/page.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint64_t column = 20 * page;
using phase = pool::in_flight_write::phase;
using image = std::array<std::byte, page>;

struct mode {
  const char* name;
  bool plain;
  uint64_t parities;
};

// Space that no object lies in, with noise in all rows of a column block. Three pieces of a window
// in it: two in one row, one between them in another row. With several parities a fourth one shares
// columns with that, in a third row.
class window_page : public testing::TestWithParam<mode> {
 protected:
  void SetUp() override {
    scute_options o = options(2 * mib);
    o.engine = SCUTE_ENGINE_LOGFREE;
    o.rows = 4;
    o.lanes = 4;
    o.parity = static_cast<uint32_t>(GetParam().parities);
    if (GetParam().plain) o.flags |= SCUTE_PLAIN_ENCODING;
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
  uint64_t parity(uint64_t p) const { return at(4 + p); }  // the rows after the data rows
  uint64_t parities() const { return GetParam().parities; }
  uint64_t rows() const { return 4 + parities(); }
  pool::lane& lane() { return s->lanes[0]; }

  // The commit of engine::logfree up to the locks, and the rest of it.
  void begin(const std::vector<write>& writes) {
    contents.clear();
    std::vector<pool::patch> patches;
    std::vector<engine::extent> extents;
    for (const write& w : writes) contents.push_back(pattern(w.key, w.length));
    for (size_t i = 0; i < writes.size(); ++i) {
      patches.push_back(
          {writes[i].offset, contents[i].data(), writes[i].length, medium::purpose::data});
      extents.push_back({writes[i].offset, writes[i].length});
    }
    ASSERT_TRUE(engine::window(*s, lane()).plan(extents));
    pool::split(*s, lane(), patches);
    ASSERT_EQ(lane().pieces.size(), writes.size());
    engine::window(*s, lane()).prepare_deltas();
    engine::window(*s, lane()).take_back();
    engine::window(*s, lane()).enter();
  }
  void data() { engine::window(*s, lane()).write_data(); }
  void fence() {
    lane().w.fence(fence_site::test);
    engine::window(*s, lane()).release_last();
  }
  void all_parities() {
    engine::window(*s, lane()).write_parity(engine::window::write_back::later);
    engine::window(*s, lane()).defer();
  }
  void commit(const std::vector<write>& writes) {
    begin(writes);
    data();
    fence();
    all_parities();
    engine::window(*s, lane()).drain();
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

// ---- by hand ------------------------------------------------------------------------------------

class by_hand : public window_page {
 protected:
  void SetUp() override {
    window_page::SetUp();
    for (uint64_t row = 0; row < rows(); ++row) before.push_back(look(at(row)));
    std::vector<write> writes{
        {at(1, 10), 101, 90}, {at(2, 200), 102, 700}, {at(1, 1000), 103, 300}};
    if (parities() > 1) writes.push_back({at(3, 250), 104, 350});
    begin(writes);
  }
  void TearDown() override {
    put_all();
    engine::window(*s, lane()).leave();
    window_page::TearDown();
  }
  static uint64_t row_of(size_t piece) { return piece == 1 ? 2 : piece == 3 ? 3 : 1; }
  std::byte delta_in(uint64_t parity, size_t piece, size_t i) const {
    return std::byte{
        codec::galois::multiply(codec::reed_solomon::coefficient(parity, row_of(piece)),
                                std::to_integer<uint8_t>(delta(piece, i)))};
  }
  // The deltas, once they have been computed.
  std::byte delta(size_t piece, size_t i) const {
    const auto& p = lane_const().pieces[piece];
    const uint64_t row = row_of(piece);
    return before[row][p.offset % page + i] ^ p.src[i];
  }
  const pool::lane& lane_const() const { return s->lanes[0]; }

  // The medium and the lane as they are when `done` bytes of a step of that phase are written: of a
  // piece, or of a piece's share in one of the parities.
  void put(phase now, size_t step, uint32_t done) {
    for (uint64_t row = 0; row < rows(); ++row)
      std::memcpy(f.raw(at(row)), before[row].data(), page);
    const auto part = [&](size_t k, uint32_t length) {
      return k < step ? length : k == step ? done : 0;
    };
    for (size_t k = 0; k < lane().pieces.size(); ++k) {
      const auto& p = lane().pieces[k];
      const uint32_t of_data = now != phase::data ? p.length : part(k, p.length);
      std::memcpy(f.raw(p.offset), p.src, of_data);
      for (uint32_t i = 0; i < of_data; ++i) p.delta[i] = delta(k, i);
      for (uint64_t q = 0; q < parities() && now != phase::data; ++q)
        for (uint32_t i = 0; i < part(k * parities() + q, p.length); ++i)
          f.raw(p.parity + q * s->geo.row_size)[i] ^= delta_in(q, k, i);
    }
  }
  void put_all() { put(phase::parity, lane().pieces.size() * parities(), 0); }

  // Every set of pages of the column that can come back is lost in turn, and each must be as it
  // was.
  void expect_all_back(phase now, size_t step, uint32_t done) {
    for (uint64_t set = 1; set < uint64_t{1} << rows(); ++set) {
      const auto count = static_cast<uint64_t>(std::popcount(set));
      if (count > parities() || (count != 1 && count != parities())) continue;
      put(now, step, done);
      std::vector<image> want;
      for (uint64_t row = 0; row < rows(); ++row) want.push_back(look(at(row)));
      const pool::library_call within;
      const pool::in_flight_scope here(*s, lane(), now);
      lane().progress.begin(step, done);
      for (uint64_t row = 0; row < rows(); ++row)
        if ((set >> row & 1) != 0) lose(at(row));
      for (uint64_t row = rows(); row-- != 0;)
        ASSERT_TRUE(look(at(row)) == want[row])
            << "set " << set << ", row " << row << ", step " << step << ", " << done << " bytes";
    }
  }

  std::vector<image> before;
};

TEST_P(by_hand, BeforeAndAfterTheWrites) {
  expect_all_back(phase::data, 0, 0);
  for (const bool all : {false, true}) {
    all ? put_all() : put(phase::data, 0, 0);
    for (uint64_t row = 0; row < rows(); ++row) {
      const image want = look(at(row));
      const pool::library_call within;
      const pool::in_flight_scope here(*s, lane(), phase::reading);
      lose(at(row));
      EXPECT_TRUE(look(at(row)) == want) << row;
    }
  }
}

TEST_P(by_hand, InTheDataPhase) {
  for (size_t piece = 0; piece < lane().pieces.size(); ++piece) {
    const auto& p = lane().pieces[piece];
    const auto first = static_cast<uint32_t>(64 - p.offset % 64);
    for (const uint32_t done : {0u, first, first + 64, p.length})
      expect_all_back(phase::data, piece, std::min(done, p.length));
  }
  // Every line of the one in the middle.
  for (uint32_t done = 56; done < 700; done += 64) expect_all_back(phase::data, 1, done);
}

TEST_P(by_hand, InTheParityPhase) {
  for (size_t step = 0; step < lane().pieces.size() * parities(); ++step) {
    const auto& p = lane().pieces[step / parities()];
    const auto first = static_cast<uint32_t>(64 - p.parity % 64);
    for (const uint32_t done : {0u, first, first + 64, p.length})
      expect_all_back(phase::parity, step, std::min(done, p.length));
  }
  for (uint64_t q = 0; q < parities(); ++q)
    for (uint32_t done = 56; done < 700; done += 64)
      expect_all_back(phase::parity, parities() + q, done);
}

// A line that has been reported and not yet been stored. If it is in the written page itself,
// repair may bring the bytes back as either, and they are stored next.
TEST_P(by_hand, BetweenReportAndStore) {
  for (const uint32_t done : {56u, 120u, 376u, 700u}) {
    const uint32_t stored = done == 700 ? 696 : done - 64 > done ? 0 : done - 64;
    put(phase::data, 1, stored);
    for (uint32_t i = 0; i < done; ++i) lane().pieces[1].delta[i] = delta(1, i);
    image want = look(at(2));
    std::memcpy(want.data() + 200, lane().pieces[1].src, done);
    {
      const pool::library_call within;
      const pool::in_flight_scope here(*s, lane(), phase::data);
      lane().progress.begin(1, done);
      lose(at(2));
      EXPECT_TRUE(look(at(2)) == want) << done;
    }
    for (uint64_t q = 0; q < parities(); ++q) {
      const size_t step = parities() + q;
      put(phase::parity, step, stored);
      want = look(parity(q));
      for (uint32_t i = stored; i < done; ++i) want[200 + i] ^= delta_in(q, 1, i);
      const pool::library_call within;
      const pool::in_flight_scope here(*s, lane(), phase::parity);
      lane().progress.begin(step, done);
      lose(parity(q));
      EXPECT_TRUE(look(parity(q)) == want) << done << " of parity " << q;
    }
  }
}

// ---- in commits ---------------------------------------------------------------------------------

class in_commit : public window_page {
 protected:
  void run(const std::function<void(int step)>& at_step) {
    const pool::library_call within;
    std::vector<write> writes{
        {at(1, 10), key, 90}, {at(2, 200), key + 1, 700}, {at(1, 1000), key + 2, 3000}};
    if (parities() > 1) writes.push_back({at(3, 50), key + 3, 1200});
    key += 4;
    begin(writes);
    at_step(0);
    data();
    at_step(1);
    fence();
    at_step(2);
    all_parities();
    at_step(3);
    engine::window(*s, lane()).drain();
    for (size_t i = 0; i < writes.size(); ++i)
      EXPECT_EQ(0, std::memcmp(f.raw(writes[i].offset), contents[i].data(), writes[i].length)) << i;
    EXPECT_TRUE(pool::column_consistent(*s, 0, column, page));
  }
  uint64_t key = 1000;
};

TEST_P(in_commit, EachPageAtEachStep) {
  for (int step = 0; step < 4; ++step)
    for (uint64_t row = 0; row < rows(); ++row) {
      SCOPED_TRACE("row " + std::to_string(row) + " at step " + std::to_string(step));
      const auto repaired = f.in().pages->repaired_pages.load();
      run([&](int now) {
        if (now == step) lose(at(row));
      });
      EXPECT_EQ(f.in().pages->repaired_pages.load() - repaired, 1u);
    }
}

// As many pages at a time as there are parities, at any instruction of the commits.
TEST_P(in_commit, AnyPageAtAnyMoment) {
  SCUTE_RANDOM(random);
  random_source mine(random);
  std::atomic<bool> over{false};
  std::atomic<uint64_t> losses{0};
  std::thread other([&] {
    while (!over) {
      std::vector<uint64_t> lost;
      for (uint64_t i = 0; i < parities(); ++i) {
        lost.push_back(at(mine.between(0, rows() - 1)));
        for (uint64_t k = mine.between(0, 2000); k != 0; --k) asm volatile("");
        lose(lost.back());
        ++losses;
      }
      for (const uint64_t p : lost)
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
    for (uint64_t row = 0; row < rows(); ++row) touch(at(row));
  }
  over = true;
  other.join();
}

constexpr mode modes[] = {{"pipelined", false, 1}, {"plain", true, 1},  {"two", false, 2},
                          {"plain_two", true, 2},  {"three", false, 3}, {"four", false, 4}};
std::string mode_name(const testing::TestParamInfo<mode>& p) {
  return p.param.name;
}
INSTANTIATE_TEST_SUITE_P(Encoding, by_hand, testing::ValuesIn(modes), mode_name);
INSTANTIATE_TEST_SUITE_P(Encoding, in_commit, testing::ValuesIn(modes), mode_name);

}  // namespace
}  // namespace scute::test

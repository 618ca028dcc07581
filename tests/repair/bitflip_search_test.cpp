// SPDX-License-Identifier: BSD-3-Clause
// Many small injuries in one column block. The search repairs those of different columns,
// whatever rows they are in. It reports those beyond repair, never guesses, and makes no more
// attempts than were counted on.
#include "core/repair/erasure/bitflip_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "codec/checksum/crc32c.hpp"
#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint32_t rows = 12;

class bitflip_search : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override { create(SCUTE_CHECKSUM_CRC32C); }
  void create(scute_checksum sum) {
    scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, GetParam()}, sum);
    o.rows = rows;
    f.create(o);
    // Fragments of all sizes, in all rows.
    for (uint64_t k = 0; f.offset_of(f.add(sizes[k % sizes.size()])) < at(rows - 1, 20 * page);
         ++k) {
    }
    SCUTE_OKAY(scute_drain(f));
  }
  // The byte of a row, or of a parity after the rows, in a column.
  uint64_t at(uint64_t row, uint64_t column) const {
    const auto& g = f.in().s.geo;
    return g.zone_offset(0) + row * g.row_size + column;
  }
  void flip(uint64_t offset, unsigned bit) { *f.raw(offset) ^= std::byte{1} << bit; }
  // So many flips in different columns of a block.
  void rain(uint64_t block, unsigned flips, uint64_t row_end) {
    std::set<uint64_t> columns;
    while (columns.size() < flips) {
      const uint64_t column = random.between(0, page - 1), row = random.between(0, row_end - 1);
      if (!columns.insert(column).second) continue;
      flip(at(row, block * page + column), static_cast<unsigned>(random.between(0, 7)));
    }
  }
  // A fragment of 4 KiB, and where its payload begins.
  struct target {
    pool::fragment f;
    uint64_t row, column;
  };
  target large_fragment() {
    for (const auto& [oid, content] : f.objects) {
      if (content.size() < 4 * page) continue;
      const auto o = f.in().heap->zones().locate(f.offset_of(oid));
      const pool::fragment x = o.fragment(1);
      const pool::cell c = pool::cell_of(f.in().s.geo, x.payload);
      if (c.column % page == 0 || c.column + x.room < f.in().s.geo.row_size)
        return {x, c.row, c.column};
    }
    ADD_FAILURE() << "no such object";
    return {};
  }
  // Flips in the columns of a fragment, in other rows, each in a column of its own.
  // And in none of `apart`.
  void rain_beside(const target& x, unsigned flips, const std::set<uint64_t>& apart = {}) {
    std::set<uint64_t> columns;
    while (columns.size() < flips) {
      const uint64_t column = random.between(0, x.f.room - 1);
      if (apart.contains(column) || !columns.insert(column).second) continue;
      const uint64_t row = (x.row + 1 + columns.size() % (rows - 1)) % rows;
      flip(at(row, x.column + column), static_cast<unsigned>(random.between(0, 6)));
    }
  }
  bytes all() const {
    const auto& g = f.in().s.geo;
    return {reinterpret_cast<const unsigned char*>(f.raw(g.zones_offset)),
            reinterpret_cast<const unsigned char*>(f.raw(g.zones_end()))};
  }
  void restore(const bytes& zone) {
    std::memcpy(f.raw(f.in().s.geo.zones_offset), zone.data(), zone.size());
  }
  // The fragment alone: whether it is found, and after how many attempts.
  std::pair<bool, uint64_t> attempts(const pool::fragment& x) {
    repair::syndromes sums(f.in().s);
    std::vector<uint16_t> others;
    for (uint16_t row = 0; row < rows; ++row)
      if (row != pool::cell_of(f.in().s.geo, x.payload).row) others.push_back(row);
    repair::bitflip_search one(f.in().s, x, sums, others);
    const bool ok = one.find();
    return {ok, one.attempts()};
  }
  bool is_object(uint64_t offset) const {
    return std::any_of(f.objects.begin(), f.objects.end(), [&](const auto& o) {
      return offset - f.offset_of(o.first) < o.second.size();
    });
  }
  void expect_reported_or_right() {
    for (const auto& [oid, content] : f.objects) {
      const void* p = nullptr;
      const int e = scute_get_verified(f, oid, &p);
      if (e == SCUTE_OK)
        EXPECT_EQ(0, std::memcmp(p, content.data(), content.size()));
      else
        EXPECT_EQ(e, SCUTE_E_CORRUPT);
    }
  }
  bool found(const pool::fragment& x) {
    std::vector<std::byte> image;
    return repair::find_bitflips(f.in().s, x, image);
  }

  static constexpr std::array<size_t, 9> sizes{20000, 40, 4096, 500, 2000, 33, 12000, 1000, 64};
  known_pool f;
  random_source random{test_seed()};
};

// BITFLIP-1, SYNRUN-1, SYNRUN-2.
TEST_P(bitflip_search, FlipsOfAllRowsAndTheParity) {
  const uint64_t blocks = f.in().s.geo.row_size / page;
  for (int trial = 0; trial < 6 && !HasFailure(); ++trial) {
    // As many as are looked at in every combination, over the two or three blocks of a fragment.
    for (uint64_t block = 2; block < blocks; ++block) rain(block, 3, rows + GetParam());
    if (trial % 2 == 0) f.expect_objects();
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
  }
  f.expect_all_repaired();
}

// Structures and headers as well; of a pool that is opened.
TEST_P(bitflip_search, FlipsInAClosedPool) {
  const uint64_t blocks = f.in().s.geo.row_size / page;
  for (int trial = 0; trial < 4 && !HasFailure(); ++trial) {
    for (uint64_t block = 0; block < blocks; ++block) rain(block, 3, rows + GetParam());
    if (trial % 2 == 0) f.in().abandon();
    SCUTE_OKAY(scute_close(f.pool));
    f.pool = nullptr;
    f.open();
    f.expect_all_repaired();
  }
}

// Transactions continue meanwhile; damage in the objects that they open, and damage that a scrub
// finds, is repaired.
TEST_P(bitflip_search, FlipsAreRepairedDuringTransactions) {
  const uint64_t blocks = f.in().s.geo.row_size / page;
  for (int trial = 0; trial < 4 && !HasFailure(); ++trial) {
    for (uint64_t block = 2; block < blocks; ++block) rain(block, 3, rows + GetParam());
    for (auto& [oid, content] : f.objects) {
      if (!random.one_in(4)) continue;
      content = pattern(random.word(), content.size());
      f.overwrite(oid, content);
    }
    SCUTE_OKAY(scute_drain(f));
    scute_report r{};
    r.struct_size = sizeof r;
    SCUTE_OKAY(scute_scrub(f, nullptr, &r));
    EXPECT_EQ(r.lost, 0u);
    f.expect_sound();
    f.expect_objects();
  }
}

// Two flips in one byte, of two rows. (SYNRUN-1, SYNRUN-2)
TEST_P(bitflip_search, BitsOfTwoRowsInOneByte) {
  const target x = large_fragment();
  for (int trial = 0; trial < 20 && !HasFailure(); ++trial) {
    for (unsigned k = 0; k < 2; ++k) {
      const uint64_t column = x.column + 100 + 500 * k;
      const uint64_t other = (x.row + 1 + random.between(0, rows - 2)) % rows;
      const auto bit = static_cast<unsigned>(random.between(0, 6));
      flip(at(x.row, column), bit);
      flip(at(other, column), bit + 1);
    }
    f.expect_objects();
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
  }
}

// A page that is lost is rebuilt with what its column holds, other rows' flips among it. (SYNRUN-2)
TEST_P(bitflip_search, ALostPageAndFlips) {
  if (GetParam() == 1) return;  // two cells of a column are wrong
  const target x = large_fragment();
  for (int trial = 0; trial < 8 && !HasFailure(); ++trial) {
    for (unsigned k = 0; k < 5;) {
      const uint64_t hit = at((x.row + random.between(1, rows - 1)) % rows,
                              x.column / page * page + 100 + 700 * k + random.between(0, 600));
      // Of two parities none shows by itself in which row the other cell is.
      if (GetParam() == 2 && !is_object(hit)) continue;
      flip(hit, 3);
      ++k;
    }
    scute_injection what;
    scute_injection_init(&what);
    what.kind = SCUTE_INJURE_LOSE_PAGE;
    what.offset = at(x.row, x.column / page * page);
    what.seed = random.word();
    SCUTE_OKAY(scute_inject(f, &what, nullptr, nullptr, nullptr));
    f.expect_objects();
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
  }
}

// One fragment's checksum cannot distinguish so many flips: first its neighbours', then its own.
// (BITFLIP-5)
TEST_P(bitflip_search, ChecksumsOfNeighboursNarrowTheSearch) {
  const target x = large_fragment();
  const bytes sound = all();
  constexpr unsigned trials = 12;
  unsigned alone = 0, with_them = 0;
  for (unsigned trial = 0; trial < trials; ++trial) {
    rain_beside(x, 16, {1000, 1200, 1400, 1600});
    for (unsigned k = 0; k < 4; ++k) flip(x.f.payload + 1000 + 200 * k, 7);
    alone += attempts(x.f).first ? 1 : 0;
    with_them += found(x.f) ? 1 : 0;
    restore(sound);
  }
  // With several parities the columns tell whose a single flip is.
  EXPECT_EQ(alone, GetParam() == 1 ? 0 : trials);
  EXPECT_GE(with_them, trials / 2);
}

// ---- what is beyond repair ----------------------------------------------------------------------

// REPAIR-1, BITFLIP-2, BITFLIP-3, BITFLIP-4.
TEST_P(bitflip_search, NoiseInSeveralRowsIsNeverGuessed) {
  const target x = large_fragment();
  const bytes sound = all();
  uint64_t most = 0;
  for (int trial = 0; trial < 300 && !HasFailure(); ++trial) {
    for (uint32_t k = 0; k <= GetParam(); ++k) {
      const bytes noise = pattern(random.word(), x.f.room);
      std::memcpy(f.raw(at((x.row + k) % rows, x.column)), noise.data(), noise.size());
    }
    const auto [ok, n] = attempts(x.f);
    EXPECT_FALSE(ok);
    EXPECT_FALSE(found(x.f));
    most = std::max(most, n);
    if (trial % 50 == 0) expect_reported_or_right();
    restore(sound);
  }
  EXPECT_LE(most, repair::bitflip_search::attempts_max);
}

// One cell too many in one column, and flips elsewhere. (BITFLIP-3)
TEST_P(bitflip_search, HopelessFlipsAreNeverGuessed) {
  const target x = large_fragment();
  const bytes sound = all();
  std::vector<std::byte> right;
  for (const repair::unit& u : repair::units_of(x.f))
    right.insert(right.end(), f.raw(u.offset), f.raw(u.offset) + u.length);
  uint64_t most = 0;
  for (int trial = 0; trial < 1000 && !HasFailure(); ++trial) {
    const uint64_t column = random.between(0, x.f.room - 1);
    const auto wrong = static_cast<std::byte>(random.between(1, 255));
    *f.raw(x.f.payload + column) ^= wrong;
    for (uint32_t k = 1; k <= GetParam(); ++k)
      *f.raw(at((x.row + k) % rows, x.column + column)) ^=
          GetParam() == 1 ? wrong : static_cast<std::byte>(random.between(1, 255));
    rain_beside(x, static_cast<unsigned>(random.between(0, 12)));
    const uint64_t n = attempts(x.f).second;
    // The search may find the truth itself. Three wrong cells can look like two wrong ones of
    // which this one is right, and another flip may be in one of those two cells.
    std::vector<std::byte> image;
    if (repair::find_bitflips(f.in().s, x.f, image)) {
      EXPECT_TRUE(image == right) << "trial " << trial;
    }
    EXPECT_LE(n, repair::bitflip_search::attempts_max);
    most = std::max(most, n);
    if (trial % 100 == 0) expect_reported_or_right();
    restore(sound);
  }
  if (GetParam() == 1) {
    EXPECT_GE(most, 500u);
  }
}

INSTANTIATE_TEST_SUITE_P(Parities, bitflip_search, testing::Values(1, 2, 3, 4));

using bitflip_search_one = bitflip_search;

// Damage of another row that leaves this fragment's checksum as it is: two choices fit, and neither
// is believed. (BITFLIP-3)
TEST_P(bitflip_search_one, TwoChoicesThatFitRefuteEachOther) {
  const target x = large_fragment();
  const bytes sound = all();
  constexpr size_t first = 300, second = 900, own = 1500;
  const auto sum = [&](uint32_t word, size_t where) {
    return codec::crc32c_shift(codec::crc32c_linear(&word, 4), x.f.room - where - 4);
  };
  // The word at `second` whose sum is that of the one at `first`.
  const uint32_t one = static_cast<uint32_t>(random.word()) | 0x01010101;
  std::array<std::pair<uint32_t, uint32_t>, 32> basis{};  // sum, word; by the sum's highest bit
  const auto reduce = [&](uint32_t s, uint32_t w) {
    for (int bit = 31; bit >= 0; --bit) {
      if ((s >> bit & 1) == 0) continue;
      if (basis[static_cast<size_t>(bit)].first == 0) return std::tuple(bit, s, w);
      s ^= basis[static_cast<size_t>(bit)].first;
      w ^= basis[static_cast<size_t>(bit)].second;
    }
    return std::tuple(-1, s, w);
  };
  for (unsigned i = 0; i < 32; ++i) {
    const uint32_t word = uint32_t{1} << i;
    const auto [bit, s, w] = reduce(sum(word, second), word);
    ASSERT_GE(bit, 0);
    basis[static_cast<size_t>(bit)] = {s, w};
  }
  const uint32_t two = std::get<2>(reduce(sum(one, first), 0));
  ASSERT_EQ(sum(one, first), sum(two, second));
  const auto injure = [&](size_t where, uint32_t word) {
    for (size_t i = 0; i < 4; ++i)
      *f.raw(at((x.row + 1) % rows, x.column + where + i)) ^= static_cast<std::byte>(word >> 8 * i);
  };
  for (const bool alike : {true, false}) {
    injure(first, one);
    // A bit too few: with one too many the choice that leaves that bit alone would fit as well.
    injure(second, alike ? two : two & (two - 1));
    flip(x.f.payload + own, 3);
    EXPECT_EQ(attempts(x.f).first, !alike);
    EXPECT_EQ(found(x.f), !alike);
    restore(sound);
  }
}

// BITFLIP-6
TEST_P(bitflip_search_one, AdlerIsNotLookedInto) {
  f.close();
  std::filesystem::remove(f.path);
  f.objects.clear();
  create(SCUTE_CHECKSUM_ADLER32);
  const target x = large_fragment();
  for (unsigned k = 0; k < 5; ++k)
    flip(k % 2 == 0 ? x.f.payload + 200 * k : at((x.row + 1) % rows, x.column + 200 * k), 3);
  const auto [ok, n] = attempts(x.f);
  EXPECT_FALSE(ok);
  EXPECT_EQ(n, 0u);
  expect_reported_or_right();
}

INSTANTIATE_TEST_SUITE_P(Parity, bitflip_search_one, testing::Values(1));

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Which cells a cell is made of (core/layout/recipe.hpp), against sums by hand; and decoding with
// cells unknown.
#include "core/layout/recipe.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "codec/parity/galois.hpp"
#include "core/shared/parity/columns.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

namespace galois = codec::galois;
namespace rs = codec::reed_solomon;

constexpr uint32_t rows = 7;

class recipes : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    g.rows = rows;
    g.parity = GetParam();
    SCUTE_RANDOM(random);
    for (uint32_t r = 0; r < rows; ++r)
      cells.push_back(static_cast<uint8_t>(random.between(0, 255)));
    for (uint32_t p = 0; p < g.parity; ++p) {
      uint8_t sum = 0;
      for (uint32_t r = 0; r < rows; ++r) sum ^= galois::multiply(rs::coefficient(p, r), cells[r]);
      cells.push_back(sum);
    }
  }
  // The cell that the recipe makes, with `lost` cells read as noise.
  uint8_t follow(const pool::recipe& r, uint32_t lost) const {
    const auto read = [&](uint32_t i) {
      return (lost >> i & 1) != 0 ? static_cast<uint8_t>(cells[i] ^ 0x5a) : cells[i];
    };
    uint8_t out = 0;
    for (uint32_t k = 0; k < r.sum_count; ++k) {
      uint8_t sum = r.stored[k] ? read(rows + r.parity[k]) : uint8_t{0};
      for (uint32_t row = 0; row < rows; ++row)
        if (!r.leaves_out(row))
          sum ^= galois::multiply(rs::coefficient(r.parity[k], row), read(row));
      out ^= galois::multiply(r.weight[k], sum);
    }
    return out;
  }
  pool::geometry g;
  std::vector<uint8_t> cells;
};

TEST_P(recipes, AnyCellsThatParityCanBringBack) {
  for (uint32_t lost = 1; lost < uint32_t{1} << (rows + g.parity); ++lost) {
    std::vector<uint16_t> unknown;
    for (uint16_t r = 0; r < rows; ++r)
      if ((lost >> r & 1) != 0) unknown.push_back(r);
    const pool::parity_set trusted = ~(lost >> rows);
    const bool can = std::popcount(lost) <= static_cast<int>(g.parity);
    for (uint32_t cell = 0; cell < rows + g.parity; ++cell) {
      if ((lost >> cell & 1) == 0) continue;
      pool::recipe r;
      const bool found = pool::find_recipe(g, cell, unknown, trusted, r);
      if (can) {
        ASSERT_TRUE(found) << cell << " of " << lost;
      }
      // Beyond that a parity may still be made of rows that are all known, and nothing else.
      const bool easy = cell >= rows && unknown.empty();
      ASSERT_EQ(found, can || easy) << cell << " of " << lost;
      if (found) {
        ASSERT_EQ(follow(r, lost), cells[cell]) << cell << " of " << lost;
      }
    }
  }
}

TEST_P(recipes, NoMoreRowsThanParities) {
  std::vector<uint16_t> unknown;
  for (uint16_t r = 1; r <= g.parity; ++r) unknown.push_back(r);
  pool::recipe r;
  EXPECT_FALSE(pool::find_recipe(g, 0, unknown, ~0u, r));
  EXPECT_FALSE(pool::find_recipe(g, 0, {}, 0, r));
  unknown = {1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(pool::find_recipe(g, 0, unknown, ~0u, r));
  unknown = {0, 0, 0};  // named again, it counts once
  EXPECT_TRUE(pool::find_recipe(g, 0, unknown, ~0u, r));
}

INSTANTIATE_TEST_SUITE_P(Parities, recipes, testing::Values(1, 2, 3, 4));

// A pool whose rows are full of noise: every part of a range, with unknown ranges next to it.
class decoding : public testing::TestWithParam<uint32_t> {};

TEST_P(decoding, WithRangesUnknown) {
  const uint32_t parities = GetParam();
  SCUTE_RANDOM(random);
  pool_file f;
  scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, parities});
  o.rows = 5;
  f.create(o);
  pool::state& s = f.in().s;
  const auto& g = s.geo;
  for (auto& end : s.used_end) end.store(g.data_size);
  const uint64_t column = 16 * pool::column_block - 700;
  const auto at = [&](uint64_t row, uint64_t inside) {
    return g.zone_offset(0) + row * g.row_size + column + inside;
  };
  for (uint64_t row = 0; row < 5; ++row)
    std::memcpy(f.raw(at(row, 0)), pattern(row + 1, 2000).data(), 2000);
  medium::writer w(*s.medium);
  pool::recompute(s, w, at(0, 0), 2000);
  w.fence(fence_site::test);
  // Ranges of other rows, each with noise where it counts as unknown.
  const std::vector<pool::data_range> all{
      {at(0, 100), 500}, {at(2, 300), 900}, {at(3, 550), 800}, {at(4, 590), 5}};
  for (uint32_t count = 0; count <= all.size(); ++count) {
    const std::vector<pool::data_range> unknown(all.begin(), all.begin() + count);
    std::vector<bytes> kept;
    for (const auto& x : unknown) {
      kept.emplace_back(x.length);
      std::memcpy(kept.back().data(), f.raw(x.offset), x.length);
      std::memset(f.raw(x.offset), 0xee, x.length);
    }
    bytes out(1500);
    // At [590, 595) all of them meet.
    const bool can = count < parities;
    EXPECT_EQ(pool::decode(s, at(1, 50), reinterpret_cast<std::byte*>(out.data()), out.size(),
                           {~pool::parity_set{0}, unknown}),
              can)
        << count;
    if (can) {
      EXPECT_EQ(0, std::memcmp(out.data(), pattern(2, 2000).data() + 50, out.size())) << count;
    }
    for (uint32_t p = 0; p < parities && count == 0; ++p) {
      EXPECT_TRUE(pool::decode(s, at(1, 50), reinterpret_cast<std::byte*>(out.data()), out.size(),
                               {pool::parity_set{1} << p, {}}));
      EXPECT_EQ(0, std::memcmp(out.data(), pattern(2, 2000).data() + 50, out.size())) << p;
    }
    for (size_t i = 0; i < unknown.size(); ++i)
      std::memcpy(f.raw(unknown[i].offset), kept[i].data(), kept[i].size());
  }
}

INSTANTIATE_TEST_SUITE_P(Parities, decoding, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace scute::test

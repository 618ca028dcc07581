// SPDX-License-Identifier: BSD-3-Clause
// Log-free transactions of several objects, of which a power failure has left the parity of some, and damage besides:
// no half of one comes back (RES-12, RES-13). What a crash alone leaves is tried by the explorer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

constexpr uint64_t header = format::header_size;

class half_transaction : public testing::TestWithParam<uint64_t> {
 protected:
  uint64_t size() const { return GetParam(); }
  void create() {
    if (f.pool != nullptr) f.close();
    std::remove(f.path.c_str());
    oids.clear();
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE});
    o.rows = 4;
    f.create(o);
    g = f.in().s.geo;
  }
  bytes old_of(uint64_t i) const { return pattern(i, size()); }
  bytes new_of(uint64_t i) const { return pattern(100 + i, size()); }
  // The pool's bytes when all objects are new, in this order.
  bytes overwrite(const std::vector<uint64_t>& order) {
    {
      transaction tx(f);
      for (const uint64_t i : order) {
        void* p = nullptr;
        SCUTE_OKAY_E(scute_tx_open(tx, oids[i], &p));
        std::memcpy(p, new_of(i).data(), size());
      }
      SCUTE_OKAY_E(tx.commit());
    }
    f.in().drain();
    return read_file(f.path);
  }
  uint64_t place_of(uint64_t i) const { return f.offset_of(oids[i]) - header; }
  void load(const bytes& image) {
    f.in().abandon();
    scute_close(f.pool);
    f.pool = nullptr;
    write_file(f.path, image);
    f.open(SCUTE_LAZY_RECOVERY);
  }
  enum class state : uint8_t { before, after, refused, neither };
  state state_of(uint64_t i) {
    const void* p = nullptr;
    if (scute_get_verified(f, oids[i], &p) != SCUTE_OK) return state::refused;
    if (std::memcmp(p, new_of(i).data(), size()) == 0) return state::after;
    return std::memcmp(p, old_of(i).data(), size()) == 0 ? state::before : state::neither;
  }

  pool_file f;
  pool::geometry g;
  std::vector<scute_oid> oids;
};

// Decided. One member has its new parity, one has the parity of before, and so has one that is damaged.
TEST_P(half_transaction, DecidedOfWhichOneMemberIsLost) {
  std::array<uint64_t, 3> who{0, 1, 2};  // whose parity is of before, whose is new, who is damaged
  do {
    for (const bool scan_first : {false, true}) {
      SCOPED_TRACE(testing::PrintToString(who) + (scan_first ? ", by the scan" : ", by reading"));
      create();
      for (uint64_t i = 0; i < 3; ++i) oids.push_back(f.alloc(old_of(i)));
      f.in().drain();
      const bytes before = read_file(f.path);
      bytes image = overwrite({0, 1, 2});
      for (const uint64_t i : {who[0], who[2]})
        for (uint64_t k = 0; k < size() + header; ++k) {
          const auto c = pool::cell_of(g, place_of(i) + k);
          const uint64_t at = pool::parity_offset(g, c.zone, c.column);
          image[at] = before[at];
        }
      image[place_of(who[2]) + header + 100] ^= 0x40;
      load(image);
      if (scan_first) {
        SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      }
      const state first = state_of(who[0]);
      EXPECT_EQ(state_of(who[1]), state::after);
      EXPECT_EQ(first, state::after);
      EXPECT_EQ(state_of(who[2]), state::refused);
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      EXPECT_EQ(state_of(who[0]), state::after);
      f.reopen();
      EXPECT_EQ(state_of(who[0]), state::after);
      EXPECT_EQ(state_of(who[1]), state::after);
      EXPECT_EQ(state_of(who[2]), state::refused);
    }
  } while (std::ranges::next_permutation(who).found);
}

// Not decided. One member is torn, one is whole, and a byte that nobody uses is damaged in the columns of the whole one's
// header. What the torn one was before is known.
TEST_P(half_transaction, UndecidedBesideADamagedByteThatNobodyUses) {
  for (const uint64_t damaged : {1, 40, 900})
    for (const bool whole_first : {true, false})
      for (const bool whole_is_last : {true, false}) {
        SCOPED_TRACE(std::to_string(damaged) + (whole_first ? ", the whole one first" : ""));
        create();
        std::vector<scute_oid> others;
        for (uint64_t i = 0; i < 40; ++i) others.push_back(f.alloc(pattern(500 + i, 50000)));
        for (uint64_t i = 0; i < 2; ++i) {
          oids.push_back(f.alloc(old_of(i)));
          for (int k = 0; k < 8; ++k) f.alloc(pattern(7, size()));
        }
        for (const scute_oid oid : others) ASSERT_EQ(f.free(oid), SCUTE_OK);
        f.in().drain();
        const bytes before = read_file(f.path);
        const bytes after =
            overwrite(whole_is_last ? std::vector<uint64_t>{0, 1} : std::vector<uint64_t>{1, 0});
        bytes image = before;
        std::copy_n(after.begin() + static_cast<long>(place_of(1)), size() + header,
                    image.begin() + static_cast<long>(place_of(1)));
        std::copy_n(after.begin() + static_cast<long>(place_of(0)), size() / 2,
                    image.begin() + static_cast<long>(place_of(0)));
        const auto c = pool::cell_of(g, place_of(1));
        uint64_t hit = 0;
        for (uint64_t row = 0; row < g.rows && hit == 0; ++row) {
          const uint64_t at = g.zone_offset(c.zone) + row * g.row_size + c.column;
          for (const scute_oid oid : others)
            if (row != c.row && at >= f.offset_of(oid) && at + 1000 < f.offset_of(oid) + 50000)
              hit = at;
        }
        ASSERT_NE(hit, 0u);
        for (uint64_t k = 0; k < damaged; ++k)
          image[hit + k] ^= static_cast<unsigned char>((0x5a + k * 7) | 1);
        load(image);
        if (whole_first) state_of(1);
        EXPECT_EQ(state_of(0), state::before);
        SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
        EXPECT_EQ(state_of(0), state::before);
        EXPECT_NE(state_of(1), state::neither);
        f.reopen();
        EXPECT_EQ(state_of(0), state::before);
      }
}

INSTANTIATE_TEST_SUITE_P(Sizes, half_transaction, testing::Values(1000, 4000));

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Log-free transactions of several objects. A power failure has left the parity of some, and
// damage has hit others: no half of a transaction comes back (RES-12, RES-13). The explorer
// tries the states that a crash alone leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "support/power_failure.hpp"
#include "support/seed.hpp"

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
  // Objects 0 to n, and others next to them that are free.
  std::vector<scute_oid> fill(uint64_t n) {
    std::vector<scute_oid> others;
    for (uint64_t i = 0; i < 40; ++i) others.push_back(f.alloc(pattern(500 + i, 50000)));
    for (uint64_t i = 0; i < n; ++i) {
      oids.push_back(f.alloc(old_of(i)));
      for (int k = 0; k < 8; ++k) f.alloc(pattern(7, size()));
    }
    for (const scute_oid oid : others) EXPECT_EQ(f.free(oid), SCUTE_OK);
    f.in().drain();
    return others;
  }
  // The first n bytes of an object, its header included, are stored.
  void store(uint64_t i, uint64_t n, const bytes& from, bytes& to) const {
    std::copy_n(from.begin() + static_cast<long>(place_of(i)), n,
                to.begin() + static_cast<long>(place_of(i)));
  }
  // Damages bytes of free objects, in the columns from the object's header on.
  void damage_beside(uint64_t i, uint64_t n, const std::vector<scute_oid>& free_ones,
                     bytes& image) const {
    const auto c = pool::cell_of(g, place_of(i));
    uint64_t hit = 0;
    for (uint64_t row = 0; row < g.rows && hit == 0; ++row) {
      const uint64_t at = g.zone_offset(c.zone) + row * g.row_size + c.column;
      for (const scute_oid oid : free_ones)
        if (row != c.row && at >= f.offset_of(oid) && at + 1000 < f.offset_of(oid) + 50000)
          hit = at;
    }
    ASSERT_NE(hit, 0u);
    for (uint64_t k = 0; k < n; ++k)
      image[hit + k] ^= static_cast<unsigned char>((0x5a + k * 7) | 1);
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

// Decided. One member has its new parity, one has the parity of before, and so has one that is
// damaged.
TEST_P(half_transaction, DecidedOfWhichOneMemberIsLost) {
  std::array<uint64_t, 3> who{0, 1, 2};  // old parity, new parity, damaged
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
      come_up(f, image);
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

// Not decided. One member is torn, one is whole, and unused bytes are damaged in the columns of
// the whole one's header. The torn member's old bytes may be lost, and that is reported
// (RES-13).
TEST_P(half_transaction, UndecidedNextToDamagedUnusedBytes) {
  for (const uint64_t damaged : {1, 40, 900})
    for (const bool whole_first : {true, false})
      for (const bool whole_is_last : {true, false}) {
        SCOPED_TRACE(std::to_string(damaged) + (whole_first ? ", the whole one first" : ""));
        create();
        const std::vector<scute_oid> others = fill(2);
        const bytes before = read_file(f.path);
        const bytes after =
            overwrite(whole_is_last ? std::vector<uint64_t>{0, 1} : std::vector<uint64_t>{1, 0});
        bytes image = before;
        store(1, size() + header, after, image);
        store(0, size() / 2, after, image);
        damage_beside(1, damaged, others, image);
        come_up(f, image);
        if (whole_first) {
          state_of(1);
        }
        SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
        const uint64_t lost = f.in().s.lost.load();
        const state torn = state_of(0), whole = state_of(1);
        EXPECT_EQ(torn, whole == state::before ? state::before : state::refused);
        EXPECT_EQ(lost, torn == state::refused ? 1u : 0u);
        f.reopen();
        EXPECT_EQ(state_of(0), torn);
        EXPECT_EQ(state_of(1), whole);
      }
}

// Not decided: one member was never written. The block of a member next to damage is resolved
// before all others.
TEST_P(half_transaction, UndecidedOfWhichOneIsReadFirst) {
  std::vector<uint64_t> order{0, 1, 2};
  do {
    SCOPED_TRACE(testing::PrintToString(order));
    create();
    const std::vector<scute_oid> others = fill(3);
    const bytes before = read_file(f.path);
    const bytes after = overwrite(order);
    bytes image = before;
    store(0, size() + header, after, image);
    store(2, size() + header, after, image);
    damage_beside(0, 900, others, image);
    come_up(f, image);
    EXPECT_EQ(state_of(0), state::after);  // (docs/internals/logfree.md, "Limits")
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    EXPECT_EQ(state_of(1), state::before);
    EXPECT_EQ(state_of(2), state::before);
  } while (std::ranges::next_permutation(order).found);
}

// Decided, and no parity has followed. A member is damaged where the transaction did not write, so
// its columns repair it, and its ring is whole (VERSION-3 of
// core/repair/erasure/decode_candidates.hpp).
TEST_P(half_transaction, DecidedOfWhichAMemberIsRepaired) {
  for (const uint64_t damaged : {0, 1})
    for (const bool scan_first : {false, true}) {
      create();
      for (uint64_t i = 0; i < 2; ++i) oids.push_back(f.alloc(old_of(i)));
      f.in().drain();
      const bytes before = read_file(f.path);
      {
        transaction tx(f);
        for (const scute_oid oid : oids) {
          void* p = nullptr;
          SCUTE_OKAY(scute_tx_add_range(tx, oid, 0, 64, &p));
          std::memcpy(p, new_of(9).data(), 64);
        }
        SCUTE_OKAY(tx.commit());
      }
      f.in().drain();
      bytes image = read_file(f.path);
      take_parity(g, before, image);
      image[place_of(damaged) + header + 700] ^= 0x40;
      come_up(f, image);
      const auto is_new = [&](uint64_t i) {
        const void* p = nullptr;
        return scute_get_verified(f, oids[i], &p) == SCUTE_OK &&
               std::memcmp(p, new_of(9).data(), 64) == 0 &&
               std::memcmp(static_cast<const char*>(p) + 64, old_of(i).data() + 64, size() - 64) ==
                   0;
      };
      if (scan_first) {
        SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      }
      for (const uint64_t i : {1 - damaged, damaged})
        EXPECT_TRUE(is_new(i)) << i << ", damaged " << damaged << ": " << scute_errormsg();
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      f.expect_sound();
    }
}

// One bit of the header of an object of several fragments is flipped, whichever: what it leads to
// may be no place, or its own.
TEST_P(half_transaction, AFlippedBitOfAHeader) {
  create();
  const bytes content = pattern(1, 9000), other = pattern(2, 9000);
  oids.push_back(f.alloc(content));
  f.in().drain();
  const bytes before = read_file(f.path);
  f.overwrite(oids[0], other);
  f.in().drain();
  bytes image = read_file(f.path);
  take_parity(g, before, image);
  const uint64_t place = f.offset_of(oids[0]) - 3 * header;
  for (uint64_t bit = 0; bit < 8 * header; ++bit) {
    image[place + bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    come_up(f, image);
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    const void* p = nullptr;
    const int e = scute_get_verified(f, oids[0], &p);
    EXPECT_TRUE(e == SCUTE_OK || e == SCUTE_E_CORRUPT) << bit << ": " << scute_errormsg();
    image[place + bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
  }
}

class half_of_a_member : public half_transaction {};

// Decided. The parity of a member's header is new, that of its payload is of before, and in another
// block; another member is damaged, and the third one's parity is of before.
TEST_P(half_of_a_member, IsDecidedByItsHeader) {
  create();
  for (uint64_t i = 0; i < 40; ++i) oids.push_back(f.alloc(old_of(i)));
  f.in().drain();
  const auto block = [&](uint64_t at) { return pool::cell_of(g, at).column / 4096; };
  uint64_t first = 0;
  while (block(place_of(first)) == block(place_of(first) + header + size() - 1) ||
         block(place_of(first)) != block(place_of(first) + header - 1))
    ++first;
  const uint64_t damaged = first + 8, third = first + 16;
  ASSERT_LT(third, oids.size());
  const bytes before = read_file(f.path);
  bytes image = overwrite({first, damaged, third});
  for (const uint64_t i : {first, damaged, third})
    for (uint64_t k = 0; k < size() + header; ++k) {
      if (i == first && block(place_of(i) + k) == block(place_of(i))) continue;
      const auto c = pool::cell_of(g, place_of(i) + k);
      const uint64_t at = pool::parity_offset(g, c.zone, c.column);
      image[at] = before[at];
    }
  image[place_of(damaged) + header + 100] ^= 0x40;
  image[place_of(damaged) + header + 700] ^= 0x40;
  come_up(f, image);
  SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
  EXPECT_EQ(f.in().s.lost.load(), 1u);
  EXPECT_EQ(state_of(first), state::after);
  EXPECT_EQ(state_of(damaged), state::refused);
  EXPECT_EQ(state_of(third), state::after);
}

// All states that a power failure can leave of a transaction, with one injury: of a member, or
// of bytes in its columns.
class any_power_failure : public testing::TestWithParam<uint32_t> {};

TEST_P(any_power_failure, LeavesNoHalf) {
  random_source random(test_seed());
  constexpr uint64_t sizes[] = {200, 1000, 3000, 4000, 9000};
  uint64_t losses = 0, rolled_back = 0, finished = 0;
  for (int round = 0; round < 100; ++round) {
    const uint64_t size = sizes[random.between(0, 4)];
    pool_file f;
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, GetParam()});
    o.rows = 4;
    f.create(o);
    const pool::geometry g = f.in().s.geo;
    std::vector<scute_oid> all, freed;
    for (uint64_t i = 0; i < 30; ++i) all.push_back(f.alloc(pattern(i, size)));
    for (uint64_t i = 0; i < 30; ++i) freed.push_back(f.alloc(pattern(500 + i, size)));
    for (const scute_oid oid : freed) ASSERT_EQ(f.free(oid), SCUTE_OK);
    f.in().drain();
    const bytes original = read_file(f.path);
    std::vector<uint64_t> who(30);
    std::iota(who.begin(), who.end(), 0);
    for (uint64_t i = 29; i != 0; --i) std::swap(who[i], who[random.between(0, i)]);
    const std::vector<uint64_t> others(who.begin() + 6, who.end());
    who.resize(random.between(2, 6));
    {
      transaction tx(f);
      for (const uint64_t i : who) {
        void* p = nullptr;
        SCUTE_OKAY(scute_tx_open(tx, all[i], &p));
        std::memcpy(p, pattern(100 + i, size).data(), size);
      }
      SCUTE_OKAY(tx.commit());
    }
    f.in().drain();
    const bytes changed = read_file(f.path);
    bytes image = changed;
    // Lines of data before it is decided, of parity then.
    const bool decided = !random.one_in(3);
    const uint64_t few = random.between(2, 8), often = random.between(0, 2);
    for (uint64_t at = g.zone_offset(0); at + 64 <= g.zones_end(); at += 64) {
      const bool parity = at >= pool::parity_offset(g, 0, 0);
      const bool chosen = often == 0 ? random.one_in(2) : random.one_in(few) == (often == 1);
      if (decided ? parity && chosen : parity || chosen) std::memcpy(&image[at], &original[at], 64);
    }
    const uint64_t damage = random.between(0, 3), victim = who[random.between(0, who.size() - 1)];
    if (damage == 1 || damage == 2)
      for (uint64_t n = random.between(1, 3); n != 0; --n)
        image[f.offset_of(all[victim]) + random.between(0, size - 1)] ^=
            static_cast<unsigned char>(random.between(1, 255));
    if (damage == 3) {
      const auto c = pool::cell_of(
          g, f.offset_of(all[victim]) - header + random.between(0, size + header - 1));
      const uint64_t row = (c.row + random.between(1, g.rows - 1)) % g.rows;
      const uint64_t at = g.zone_offset(c.zone) + row * g.row_size + c.column;
      for (uint64_t k = 0, n = random.size(1500); k < n; ++k)
        image[at + k] ^= static_cast<unsigned char>(random.between(1, 255));
    }
    come_up(f, image);
    enum class state : uint8_t { before, after, refused, neither };
    const auto state_of = [&](uint64_t i) {
      const void* p = nullptr;
      if (scute_get_verified(f, all[i], &p) != SCUTE_OK) return state::refused;
      if (std::memcmp(p, pattern(100 + i, size).data(), size) == 0) return state::after;
      return std::memcmp(p, pattern(i, size).data(), size) == 0 ? state::before : state::neither;
    };
    SCOPED_TRACE("round " + std::to_string(round) + (decided ? ", decided" : "") + ", damage " +
                 std::to_string(damage));
    std::map<uint64_t, state> read;
    for (uint64_t n = random.between(0, 2); n != 0; --n) {
      const uint64_t i = who[random.between(0, who.size() - 1)];
      read[i] = state_of(i);
    }
    uint64_t lost = f.in().s.lost.load();
    if (random.one_in(3)) {
      abandon(f);
      f.open(SCUTE_LAZY_RECOVERY);
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      lost += f.in().s.lost.load();
    } else {
      SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
      lost = f.in().s.lost.load();
    }
    std::map<state, uint64_t> seen;
    for (const uint64_t i : who) {
      const state is = state_of(i);
      ++seen[is];
      if (read.contains(i)) {
        EXPECT_EQ(is, read[i]) << "it was read before";
      }
    }
    EXPECT_TRUE(seen[state::before] == 0 || seen[state::after] == 0);
    EXPECT_EQ(seen[state::neither], 0u);
    // (All of its data may be there by chance. Then it was decided, whatever was meant.)
    if (damage == 0) {
      EXPECT_EQ(seen[state::refused], 0u);
      EXPECT_TRUE(!decided || seen[state::before] == 0);
    }
    if (seen[state::refused] != 0) {
      EXPECT_GT(lost, 0u) << "nothing was reported";
    }
    for (const uint64_t i : others) {
      const state is = state_of(i);
      EXPECT_TRUE(is == state::before || (damage == 3 && is == state::refused));
    }
    if (testing::Test::HasFailure()) return;
    losses += seen[state::refused];
    rolled_back += seen[state::before];
    finished += seen[state::after];
  }
  EXPECT_GT(rolled_back, 0u);
  EXPECT_GT(finished, 0u);
  std::printf("%llu members came back as they were, %llu are new, %llu lost\n",
              static_cast<unsigned long long>(rolled_back),
              static_cast<unsigned long long>(finished), static_cast<unsigned long long>(losses));
}

INSTANTIATE_TEST_SUITE_P(Parities, any_power_failure, testing::Values(1, 2));
INSTANTIATE_TEST_SUITE_P(Sizes, half_transaction, testing::Values(1000, 4000));
INSTANTIATE_TEST_SUITE_P(Sizes, half_of_a_member, testing::Values(1000, 3000));

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Objects that are freed, or turn out to be damaged, while a transaction has them open.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

// Two transactions may not write one object at a time; the one that finds it freed must not bring
// it back, whether it had opened all of it or a part.
TEST(stale_object, FreedByAnotherTransaction) {
  for (const bool whole : {true, false}) {
    pool_file f;
    f.create();
    const scute_oid oid = f.alloc(pattern(1, 300));
    transaction tx(f);
    void* to = nullptr;
    if (whole) {
      SCUTE_OKAY(scute_tx_open(tx, oid, &to));
    } else {
      SCUTE_OKAY(scute_tx_add_range(tx, oid, 10, 20, &to));
    }
    std::memset(to, 7, 10);
    std::thread([&] { EXPECT_EQ(f.free(oid), SCUTE_OK); }).join();
    SCUTE_FAILS(SCUTE_E_FREED, tx.commit());
    const void* at = nullptr;
    SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f, oid, &at));
    f.expect_sound();
  }
}

// An object beyond repair that was refused once stays refused in the same transaction.
TEST(stale_object, RefusedOnceIsRefusedAgain) {
  pool_file f;
  f.create();
  const scute_oid oid = f.alloc(pattern(1, 300));
  const uint64_t at = f.offset_of(oid);
  const auto& g = f.in().s.geo;
  // A bit that both rows have wrong: no choice among the bits that do not add up is right
  // (BITFLIP-3).
  f.raw(at)[5] ^= std::byte{3};
  f.raw(g.zones_offset + g.data_size + (at + 5 - g.zones_offset) % g.row_size)[0] ^= std::byte{6};
  transaction tx(f);
  void* to = nullptr;
  const void* from = nullptr;
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_tx_open(tx, oid, &to));
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_tx_add_range(tx, oid, 10, 20, &to));
  SCUTE_OKAY(scute_tx_get(tx, oid, &from));  // reading verifies nothing, and shows what there is
  EXPECT_EQ(from, f.raw(at));
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_tx_open(tx, oid, &to));
  SCUTE_OKAY(tx.commit());
}

// Damage that struck the header of an object that is open is no other transaction's doing: it is
// repaired, and the commit continues.
TEST(stale_object, HeaderDamagedMeanwhile) {
  for (const auto engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE})
    for (const bool whole : {true, false})
      for (const bool beyond_repair : {false, true}) {
        pool_file f;
        f.create(mib, {SCUTE_PROTECT_MLPC, engine});
        const scute_oid oid = f.alloc(pattern(1, 300));
        SCUTE_OKAY(scute_drain(f));
        transaction tx(f);
        void* to = nullptr;
        if (whole) {
          SCUTE_OKAY(scute_tx_open(tx, oid, &to));
        } else {
          SCUTE_OKAY(scute_tx_add_range(tx, oid, 10, 20, &to));
        }
        std::memset(to, 7, 10);
        const uint64_t tag =
            f.offset_of(oid) - format::header_size + offsetof(format::fragment_header, tag);
        f.raw(tag)[1] ^= std::byte{6};
        const auto& g = f.in().s.geo;
        if (beyond_repair)
          f.raw(g.zones_offset + g.data_size + (tag + 1 - g.zones_offset) % g.row_size)[0] ^=
              std::byte{12};
        if (beyond_repair) {
          SCUTE_FAILS(SCUTE_E_CORRUPT, tx.commit());
          continue;
        }
        SCUTE_OKAY(tx.commit());
        EXPECT_EQ(f.info().repaired, 1u);
        bytes expected = pattern(1, 300);
        std::fill_n(expected.begin() + (whole ? 0 : 10), 10, 7);
        EXPECT_TRUE(f.read(oid) == expected);
        f.expect_sound();
      }
}

// Refused objects leave nothing in the table of open objects, which would be full after a few
// dozen.
TEST(stale_object, RefusedOpensLeaveNoTrace) {
  pool_file f;
  f.create(4 * mib);
  std::vector<scute_oid> oids;
  for (uint64_t k = 0; k < 40; ++k) oids.push_back(f.alloc(pattern(k, 100)));
  for (const size_t open : {0u, 8u, 9u, 31u}) {
    transaction tx(f);
    void* at = nullptr;
    for (size_t k = 0; k < open; ++k) SCUTE_OKAY(scute_tx_open(tx, oids[k], &at));
    for (size_t k = 0; k < 1000; ++k)
      SCUTE_FAILS(SCUTE_E_RANGE, scute_tx_add_range(tx, oids[open + k % 9], 50, 51, &at));
    for (size_t k = 0; k < oids.size(); ++k) {
      SCUTE_OKAY(scute_tx_open(tx, oids[k], &at));
      std::memset(at, static_cast<int>(open), 100);
    }
    SCUTE_OKAY(tx.commit());
    for (const scute_oid oid : oids)
      EXPECT_EQ(f.read(oid), bytes(100, static_cast<unsigned char>(open)));
  }
}

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Objects that are gone, or turn out to be damaged, behind a transaction's back.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

// Two transactions may not write one object at a time; the one that finds it freed must not bring it
// back, whether it had opened all of it or a part.
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

// An object beyond repair stays refused in the transaction that has been told once.
TEST(stale_object, RefusedOnceIsRefusedAgain) {
  pool_file f;
  f.create();
  const scute_oid oid = f.alloc(pattern(1, 300));
  const uint64_t at = f.offset_of(oid);
  const auto& g = f.in().s.geo;
  f.raw(at)[5] ^= std::byte{1};
  f.raw(g.zones_offset + g.data_size + (at + 5 - g.zones_offset) % g.row_size)[0] ^= std::byte{2};
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

// What was refused leaves nothing in the table of open objects, which would be full after a few dozen.
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

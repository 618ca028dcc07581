// SPDX-License-Identifier: BSD-3-Clause
// Oids that are no oids: every call says so, and none crashes (POOL-9).
#include <gtest/gtest.h>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class oids : public testing::Test {
 protected:
  void SetUp() override {
    f.create(2 * mib);
    for (const size_t n : {10, 100, 5000, 60000}) live.push_back(f.alloc(pattern(n, n)));
    gone = f.alloc(pattern(1, 10));
    ASSERT_EQ(SCUTE_OK, f.free(gone));
  }
  // All calls that take an oid; none may succeed.
  void refused(scute_oid oid) {
    void* p = nullptr;
    const void* q = nullptr;
    transaction tx(f);
    for (const int e :
         {scute_get_verified(f, oid, &q), scute_object_info(f, oid, nullptr, nullptr, nullptr),
          scute_tx_open(tx, oid, &p), scute_tx_add_range(tx, oid, 0, 1, &p),
          scute_tx_inplace(tx, oid, 0, 1, &p), scute_tx_get(tx, oid, &q),
          scute_tx_get_range(tx, oid, 0, 1, &q), scute_tx_free(tx, oid),
          scute_obj_open(f, oid, &p)})
      ASSERT_TRUE(e == SCUTE_E_OID || e == SCUTE_E_FREED)
          << std::hex << oid << ": " << scute_errorname(e) << " " << scute_errormsg();
    scute_get(f, oid);
  }
  pool_file f;
  std::vector<scute_oid> live;
  scute_oid gone = 0;
};

TEST_F(oids, Null) {
  refused(0);
  EXPECT_EQ(scute_get(f, 0), nullptr);
}
TEST_F(oids, Freed) {
  refused(gone);
}
TEST_F(oids, InTheMiddleOfObjects) {
  for (const scute_oid o : live)
    for (const uint64_t d : {1, 8, 16, 31, 32, 33, 64, 4096, 4128}) {
      bool other = false;
      for (const scute_oid l : live) other |= l == o + d;
      if (!other) refused(o + d);
    }
}
TEST_F(oids, OfAnotherPool) {
  refused(live[0] ^ uint64_t{1} << 50);
  EXPECT_EQ(scute_get(f, live[0] ^ uint64_t{1} << 50), nullptr);
}
TEST_F(oids, OutsideThePool) {
  const uint64_t tag = live[0] & ~0xffff'ffff'ffffu;
  const auto& g = f.in().s.geo;
  for (const uint64_t at :
       {uint64_t{0}, uint64_t{1}, g.lanes_offset, g.zones_offset - 1, g.zones_offset,
        g.zones_offset + 64, g.zones_offset + 4096, g.zone_offset(0) + g.data_size, g.zones_end(),
        g.file_size - 1, g.file_size, uint64_t{0xffff'ffff'ffff}})
    refused(tag | at);
}
TEST_F(oids, RandomGarbage) {
  SCUTE_RANDOM(random);
  const uint64_t tag = live[0] & ~0xffff'ffff'ffffu;
  const void* q = nullptr;
  void* p = nullptr;
  transaction tx(f);
  for (int i = 0; i < 100000; ++i) {
    scute_oid oid = random.word();
    if (random.one_in(2)) oid = tag | random.between(0, 3 * mib);
    if (random.one_in(8)) oid = tag | (live[random.between(0, 3)] + 32 * random.between(0, 300));
    bool alive = false;
    for (const scute_oid l : live) alive |= l == oid;
    if (alive) continue;
    scute_get(f, oid);
    const int e = i % 3 == 0   ? scute_get_verified(f, oid, &q)
                  : i % 3 == 1 ? scute_tx_open(tx, oid, &p)
                               : scute_tx_free(tx, oid);
    ASSERT_TRUE(e == SCUTE_E_OID || e == SCUTE_E_FREED)
        << std::hex << oid << ": " << scute_errormsg();
    scute_oid next = 0;
    scute_next(f, oid, SCUTE_TYPE_ANY, &next);
  }
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(f.objects(), live.size());
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test

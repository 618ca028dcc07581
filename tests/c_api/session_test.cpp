// SPDX-License-Identifier: BSD-3-Clause
// The choices for a session (policy, flags), and how the interface reports them.
#include <gtest/gtest.h>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

TEST(session, InfoSaysWhatWasChosen) {
  pool_file f;
  scute_options o = options();
  f.create(o);
  scute_info i = f.info();
  EXPECT_EQ(i.policy, SCUTE_POLICY_DEFAULT);
  EXPECT_EQ(i.scrub_every, 0u);
  EXPECT_EQ(i.flags, 0u);
  EXPECT_EQ(i.fault_handler, 1);
  EXPECT_EQ(i.lost, 0u);
  EXPECT_EQ(i.pages_repaired, 0u);
  f.close();
  o.policy = SCUTE_POLICY_SCRUB;
  o.scrub_every = 1'000'000;
  o.flags = SCUTE_NO_FAULT_HANDLER | SCUTE_ACCOUNT;
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  i = f.info();
  EXPECT_EQ(i.policy, SCUTE_POLICY_SCRUB);
  EXPECT_EQ(i.scrub_every, 1'000'000u);
  EXPECT_EQ(i.flags, SCUTE_NO_FAULT_HANDLER | SCUTE_ACCOUNT);
  EXPECT_EQ(i.fault_handler, 0);
  f.reopen();
  EXPECT_EQ(f.info().policy, SCUTE_POLICY_DEFAULT) << "nothing of it is stored in the pool";
}

// A program that was built before there were policies passes a shorter struct.
TEST(session, OptionsOfAnOlderProgram) {
  pool_file f;
  scute_options o = options();
  o.policy = static_cast<scute_policy>(77);
  o.struct_size = offsetof(scute_options, policy);
  f.create(o);
  EXPECT_EQ(f.info().policy, SCUTE_POLICY_DEFAULT);
}

TEST(session, LossesAreCounted) {
  pool_file f;
  f.create();
  const scute_oid oid = f.alloc(pattern(1, 100));
  const auto& g = f.in().s.geo;
  const pool::cell c = pool::cell_of(g, f.offset_of(oid));
  // A bit that both rows have wrong: no choice among the bits that do not add up is right
  // (BITFLIP-3).
  f.raw(f.offset_of(oid))[50] ^= std::byte{3};
  f.raw(g.zone_offset(c.zone) + g.data_size + c.column)[50] ^= std::byte{6};
  const void* bytes = nullptr;
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f, oid, &bytes));
  EXPECT_EQ(f.info().lost, 1u);
}

TEST(session, ThePagesOfTheSuperblocksHoldNotes) {
  pool_file f;
  f.create();
  const uint64_t size = f.info().size;
  for (const auto& [page, copy] :
       {std::pair<uint64_t, uint64_t>{0, 0}, {4096, 1}, {size - 4096, 2}})
    for (uint64_t at = 0; at < 4096; ++at) {
      scute_location l{};
      l.struct_size = sizeof l;
      SCUTE_OKAY(scute_locate(f, page + at, &l));
      ASSERT_EQ(l.region, at < 512 ? SCUTE_REGION_SUPERBLOCK : SCUTE_REGION_NOTES) << page + at;
      ASSERT_EQ(l.replica, copy);
    }
}

}  // namespace
}  // namespace scute::test

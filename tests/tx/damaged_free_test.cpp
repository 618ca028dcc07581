// SPDX-License-Identifier: BSD-3-Clause
// VERIFY-2: objects whose header is damaged, and that are freed. Nothing of the damage gets into
// the parity, and no conflict is reported.
#include <gtest/gtest.h>

#include <cstring>

#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

enum class moment { before, behind_the_opening, behind_the_free };

class damaged_free : public testing::TestWithParam<std::tuple<scute_engine, size_t>> {
 protected:
  damaged_free() {
    scute_options o = options(8 * mib, {SCUTE_PROTECT_MLPC, std::get<0>(GetParam())});
    o.rows = 8;
    f.create(o);
    other_ = f.alloc(pattern(2, 100));
  }
  scute_oid make() {
    const scute_oid oid = f.alloc(pattern(1, std::get<1>(GetParam())));
    EXPECT_NE(oid, 0u) << scute_errormsg();
    SCUTE_OKAY_E(scute_drain(f));
    header_ = f.in().heap->zones().locate(f.offset_of(oid)).header;
    return oid;
  }
  void flip(uint64_t bit, uint64_t at) {
    f.raw(at)[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  }
  uint64_t parity_of(uint64_t at) {
    const auto& g = f.in().s.geo;
    const pool::cell c = pool::cell_of(g, at);
    return pool::parity_offset(g, c.zone, c.column);
  }
  // In a transaction that does nothing else, or something else.
  void free_with_each_bit(moment when, bool alone) {
    for (uint64_t bit = 0; bit < 8 * format::header_size; ++bit) {
      const scute_oid oid = make();
      transaction tx(f);
      void* at = nullptr;
      if (!alone) {
        SCUTE_OKAY(scute_tx_open(tx, other_, &at));
        std::memset(at, static_cast<int>(bit), 100);
      }
      if (when == moment::behind_the_opening) {
        SCUTE_OKAY(scute_tx_open(tx, oid, &at));
      }
      if (when != moment::behind_the_free) flip(bit, header_);
      ASSERT_EQ(SCUTE_OK, scute_tx_free(tx, oid)) << "bit " << bit << ": " << scute_errormsg();
      if (when == moment::behind_the_free) flip(bit, header_);
      ASSERT_EQ(SCUTE_OK, tx.commit()) << "bit " << bit << ": " << scute_errormsg();
      const void* p = nullptr;
      SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f, oid, &p));
      if (bit % 16 == 15) f.expect_sound();
      if (testing::Test::HasFailure()) FAIL() << "up to bit " << bit;
    }
    EXPECT_EQ(f.info().lost, 0u);
  }

  pool_file f;
  uint64_t header_ = 0;

 private:
  scute_oid other_ = 0;
};

TEST_P(damaged_free, BeforeItIsFreed) {
  for (const bool alone : {true, false}) free_with_each_bit(moment::before, alone);
}
TEST_P(damaged_free, AfterItsOpening) {
  for (const bool alone : {true, false}) free_with_each_bit(moment::behind_the_opening, alone);
}
TEST_P(damaged_free, AfterItsFree) {
  for (const bool alone : {true, false}) free_with_each_bit(moment::behind_the_free, alone);
}

// "scute_tx_free needs no valid payload", nor a header that can be repaired; and no loss is
// reported.
TEST_P(damaged_free, BeyondRepair) {
  for (const size_t field :
       {offsetof(format::fragment_header, tag), offsetof(format::fragment_header, type),
        offsetof(format::fragment_header, checksum), size_t{format::header_size + 5}}) {
    const scute_oid oid = make();
    // A bit that both rows have wrong (BITFLIP-3).
    f.raw(header_ + field)[0] ^= std::byte{3};
    f.raw(parity_of(header_ + field))[0] ^= std::byte{6};
    ASSERT_EQ(SCUTE_OK, f.free(oid)) << field << ": " << scute_errormsg();
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
  }
  EXPECT_EQ(f.info().lost, 0u);
}

// The number of bytes that a free reads does not grow with the object.
TEST_P(damaged_free, ReadsOneFragment) {
  const scute_oid oid = make();
  const uint64_t before = f.stats().verified_bytes;
  SCUTE_OKAY(f.free(oid));
  EXPECT_LE(f.stats().verified_bytes - before, 2 * format::fragment_payload);
}

std::string name_of(const testing::TestParamInfo<std::tuple<scute_engine, size_t>>& p) {
  const scute_engine engine = std::get<0>(p.param);
  return (engine == SCUTE_ENGINE_REDO   ? "redo_"
          : engine == SCUTE_ENGINE_SPEC ? "spec_"
                                        : "logfree_") +
         std::to_string(std::get<1>(p.param));
}
INSTANTIATE_TEST_SUITE_P(Engine, damaged_free,
                         testing::Combine(testing::Values(SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE,
                                                          SCUTE_ENGINE_SPEC),
                                          testing::Values(24u, 500u, 4064u, 9000u, 300'000u)),
                         name_of);

}  // namespace
}  // namespace scute::test

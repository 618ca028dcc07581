// SPDX-License-Identifier: BSD-3-Clause
// A thread reads an object while another one frees it or makes it again, without the lock that the
// program should hold. It reads bytes of the object, or gets SCUTE_E_FREED. The object is not
// damaged, and no damage is reported (VERIFY-1).
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/failure.hpp"
#include "core/shared/pool/library_call.hpp"
#include "core/tx/verify.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

class late_reader : public testing::TestWithParam<scute_engine> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, GetParam()});
    o.rows = 4;
    o.chunk_size = 16384;
    f.create(o);
  }
  int verify(const heap::object& o, uint64_t size) {
    const pool::library_call within;
    try {
      tx::verify_object(f.in().s, nullptr, o, size);
    } catch (const failure& e) {
      return e.code();
    }
    return SCUTE_OK;
  }

  pool_file f;
};

TEST_P(late_reader, AFragmentThatTheObjectDoesNotHaveAnyMore) {
  const scute_oid oid = f.alloc(pattern(1, 8150));
  f.in().drain();
  const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
  ASSERT_GT(o.room, 2 * format::fragment_payload);
  EXPECT_EQ(verify(o, 8150), SCUTE_OK);
  EXPECT_EQ(verify(o, o.room), SCUTE_E_FREED);
  heap::object other = o;  // as it was when its chunk had other slots
  other.header -= 64;
  other.room += 2048;
  EXPECT_EQ(verify(other, 8150), SCUTE_E_FREED);
  EXPECT_EQ(f.in().s.lost.load(), 0u);
  EXPECT_EQ(f.stats().losses, 0u);
  // Damage is reported as before.
  for (uint64_t i = 0; i < 300; ++i) {
    const pool::cell c = pool::cell_of(f.in().s.geo, o.payload + 5000 + i);
    f.raw(o.payload + 5000 + i)[0] ^= static_cast<std::byte>(i * 7 | 1);
    f.raw(pool::parity_offset(f.in().s.geo, c.zone, c.column))[0] ^=
        static_cast<std::byte>(i * 11 | 1);
  }
  EXPECT_EQ(verify(o, 8150), SCUTE_E_CORRUPT);
  EXPECT_EQ(f.in().s.lost.load(), 1u);
  EXPECT_EQ(f.stats().losses, 1u);
}

TEST_P(late_reader, WhileAnotherThreadFreesAndAllocates) {
  constexpr size_t count = 24;
  std::vector<std::atomic<scute_oid>> oids(count);
  for (auto& oid : oids) oid = f.alloc(pattern(1, 9000));
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::atomic<uint64_t> reads{0};
  const auto read = [&](unsigned seed) {
    std::minstd_rand random(seed);
    while (!over) {
      const void* at = nullptr;
      const int e = scute_get_verified(f.pool, oids[random() % count], &at);
      ++reads;
      if (e != SCUTE_OK && e != SCUTE_E_FREED && e != SCUTE_E_OID && wrong++ == 0)
        ADD_FAILURE() << scute_errormsg();
    }
  };
  const auto enumerate = [&] {
    while (!over) {
      scute_oid at = 0;
      for (int e = scute_first(f.pool, SCUTE_TYPE_ANY, &at); at != 0 || e != SCUTE_OK;
           e = scute_next(f.pool, at, SCUTE_TYPE_ANY, &at)) {
        if (e == SCUTE_OK) continue;
        if (e != SCUTE_E_FREED && e != SCUTE_E_OID && wrong++ == 0)
          ADD_FAILURE() << scute_errormsg();
        break;
      }
    }
  };
  std::thread readers[] = {std::thread(read, 1), std::thread(read, 2), std::thread(enumerate)};
  std::minstd_rand random(3);
  for (int n = 0; n < 30000 && wrong == 0; ++n) {
    transaction tx(f);
    auto& oid = oids[random() % count];
    const size_t size = random() % 2 == 0 ? 100 + random() % 900 : 4000 + random() % 20000;
    scute_oid now = 0;
    void* p = nullptr;
    SCUTE_OKAY_E(scute_tx_free(tx, oid));
    SCUTE_OKAY_E(scute_tx_alloc(tx, size, 1, &now, &p));
    std::memset(p, n, size);
    SCUTE_OKAY_E(tx.commit());
    oid = now;
  }
  over = true;
  for (auto& t : readers) t.join();
  EXPECT_GT(reads, 0u);
  EXPECT_EQ(f.in().s.lost.load(), 0u);
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Engines, late_reader,
                         testing::Values(SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE,
                                         SCUTE_ENGINE_SPEC));

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Damage that strikes an object's header after a transaction has read it, and before the
// transaction has the columns. No other transaction has changed the object, so there is no
// conflict (CONFLICT-1).
#include <gtest/gtest.h>

#include "base/locks/waiting.hpp"
#include "core/shared/pool/library_call.hpp"
#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

class changed_header : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib);
    o.engine = SCUTE_ENGINE_LOGFREE;
    o.rows = 4;
    o.parity = GetParam();
    f.create(o);
    s = &f.in().s;
    f.in().idle.stop();
  }
  void TearDown() override { this_thread_waits = {}; }

  // Holds the object's first column block until another thread waits for it. Then the header is
  // damaged, and the block is free.
  void keep_until_awaited(scute_oid object) {
    f.in().drain();
    oid = object;
    at = f.in().heap->zones().locate(f.offset_of(oid)).header;
    stripe = pool::stripe_of(*s, at);
    s->locks.lock_exclusive(stripe);
    this_thread_waits.arg = this;
    this_thread_waits.call = [](void* arg) {
      auto& t = *static_cast<changed_header*>(arg);
      this_thread_waits = {};
      ++t.struck;
      if (t.lost == 0) {
        for (uint64_t i = 0; i < format::header_size; ++i) t.f.raw(t.at)[i] ^= std::byte{0x5a};
      } else {  // it still says how long the fragment is
        t.f.raw(t.at + offsetof(format::fragment_header, tag))[0] ^= std::byte{1};
        const bytes noise = pattern(3, page);
        t.s->medium->lose_page(t.lost, reinterpret_cast<const std::byte*>(noise.data()));
      }
      t.s->locks.unlock_exclusive(t.stripe);
    };
  }
  void expect_committed(const bytes& content) {
    EXPECT_EQ(struck, 1);
    f.in().drain();
    EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
    f.reopen();
    EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
  }

  known_pool f;
  pool::state* s = nullptr;
  scute_oid oid = 0;
  uint64_t at = 0;
  uint64_t lost = 0;  // a page that is lost as well, if not 0
  uint32_t stripe = 0;
  int struck = 0;
};

TEST_P(changed_header, UnderAWindow) {
  const scute_oid object = f.alloc(pattern(1, 500));
  transaction tx(f);
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, object, &p));
  const bytes fresh = pattern(2, 500);
  std::memcpy(p, fresh.data(), fresh.size());
  keep_until_awaited(object);
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(f.stats().logged, 0u);
  expect_committed(fresh);
}

TEST_P(changed_header, OfATransactionThatIsLogged) {
  // More rows of one object than parities could bring back.
  const size_t size = GetParam() * s->geo.row_size + 2 * page;
  const scute_oid object = f.alloc(pattern(1, size));
  transaction tx(f);
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, object, &p));
  bytes fresh = pattern(1, size);
  for (size_t i = 0; i < size; i += s->geo.row_size) fresh[i] ^= 1;
  std::memcpy(p, fresh.data(), fresh.size());
  keep_until_awaited(object);
  const uint64_t before = f.stats().logged;
  SCUTE_OKAY(tx.commit());
  EXPECT_GT(f.stats().logged, before);
  expect_committed(fresh);
}

// Of the fragment there is more than the columns that the window has: a page of that is lost
// (INFLIGHT-3).
TEST_P(changed_header, OfWhatIsFreedWithAPageThatIsLost) {
  const scute_oid object = f.alloc(pattern(1, 9000));
  const scute_oid other = f.alloc(pattern(2, 9000));
  transaction tx(f);
  SCUTE_OKAY(scute_tx_free(tx, object));
  keep_until_awaited(object);
  const heap::object o = f.in().heap->zones().locate(f.offset_of(object));
  lost = (o.payload + format::fragment_payload - 1) / page * page;
  ASSERT_NE(pool::stripe_of(*s, lost), stripe);
  SCUTE_OKAY(tx.commit());
  EXPECT_EQ(struck, 1);
  const void* to = nullptr;
  SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f.pool, object, &to));
  EXPECT_TRUE(f.read(other) == pattern(2, 9000));
  EXPECT_EQ(f.info().lost, 0u);
  f.expect_sound();
}

TEST_P(changed_header, OfATransactionThatIsLoggedWithAPageThatIsLost) {
  const size_t size = GetParam() * s->geo.row_size + 2 * page;
  const scute_oid object = f.alloc(pattern(1, size));
  transaction tx(f);
  void* p = nullptr;
  bytes fresh = pattern(1, size);
  for (size_t i = 0; i < size; i += s->geo.row_size) {
    SCUTE_OKAY(scute_tx_add_range(tx, object, i, 8, &p));
    fresh[i] ^= 1;
    *static_cast<unsigned char*>(p) = fresh[i];
  }
  keep_until_awaited(object);
  const heap::object o = f.in().heap->zones().locate(f.offset_of(object));
  const pool::fragment first = o.fragment(0);
  lost = (first.payload + first.room - 1) / page * page;
  if (pool::stripe_of(*s, lost) == stripe) lost += page;
  const uint64_t before = f.stats().logged;
  SCUTE_OKAY(tx.commit());
  EXPECT_GT(f.stats().logged, before);
  expect_committed(fresh);
}

TEST_P(changed_header, OfWhatIsOpenedInPlace) {
  const scute_oid object = f.alloc(pattern(1, 500));
  // A page of the same columns that is lost, and that the transaction has to have back first.
  keep_until_awaited(object);
  const pool::cell c = pool::cell_of(s->geo, at);
  const uint64_t lost_page =
      s->geo.zone_offset(c.zone) + 3 * s->geo.row_size + c.column / page * page;
  const bytes noise = pattern(3, page);
  s->medium->lose_page(lost_page, reinterpret_cast<const std::byte*>(noise.data()));
  transaction tx(f);
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_inplace(tx, object, 100, 50, &p));
  EXPECT_EQ(struck, 1);
  std::memset(p, 7, 50);
  SCUTE_OKAY(tx.commit());
  bytes content = pattern(1, 500);
  std::fill_n(content.begin() + 100, 50, static_cast<unsigned char>(7));
  expect_committed(content);
}

// In place, and then damaged while the transaction holds the columns already: it must let them go
// to repair.
TEST_P(changed_header, OfWhatIsOpenInPlaceWhenMoreIsOpened) {
  const scute_oid object = f.alloc(pattern(1, 500));
  const scute_oid other = f.alloc(pattern(2, 9000));
  transaction tx(f);
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_inplace(tx, object, 100, 50, &p));
  std::memset(p, 7, 50);
  void* q = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, other, &q));
  const bytes fresh = pattern(4, 9000);
  std::memcpy(q, fresh.data(), fresh.size());
  keep_until_awaited(other);
  SCUTE_OKAY(tx.commit());
  expect_committed(fresh);
  bytes content = pattern(1, 500);
  std::fill_n(content.begin() + 100, 50, static_cast<unsigned char>(7));
  EXPECT_TRUE(f.read(object) == content);
}

INSTANTIATE_TEST_SUITE_P(Parities, changed_header, testing::Values(1u, 2u, 3u),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace scute::test

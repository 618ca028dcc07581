// SPDX-License-Identifier: BSD-3-Clause
// Transactions concurrently with a thread that repairs the objects that they change or free.
#include "planted/repaired_meanwhile.hpp"

namespace scute::test {
namespace {

// (CONFLICT-1)
TEST_P(repaired_meanwhile, commit_of_a_copy) {
  commit_beside_a_repairer({tag(), checksum(), payload(25)},
                           [this](transaction& tx, unsigned nth, bytes& content, auto&& strike) {
                             void* p = nullptr;
                             SCUTE_OKAY(scute_tx_open(tx, oid, &p));
                             content = pattern(10 + nth, content.size());
                             std::memcpy(p, content.data(), content.size());
                             strike();
                           });
}

// (SEAL-3)
TEST_P(repaired_meanwhile, commit_of_a_part) {
  commit_beside_a_repairer(
      {tag(), checksum(), payload(25), payload(300)},
      [this](transaction& tx, unsigned nth, bytes& content, auto&& strike) {
        void* p = nullptr;
        SCUTE_OKAY(scute_tx_add_range(tx, oid, 20, 100, &p));
        const bytes part = pattern(10 + nth, 100);
        std::copy(part.begin() + 10, part.end(), content.begin() + 30);  // some of it stays
        std::memcpy(static_cast<unsigned char*>(p) + 10, part.data() + 10, part.size() - 10);
        strike();
      });
}

// The first page of the object becomes noise at one look or another. (COL-3, SEAL-4)
TEST_P(repaired_meanwhile, commit_of_a_part_of_what_becomes_noise) {
  hold(several);
  bytes content = pattern(1, size);
  for (const uint64_t from : {uint64_t{0}, uint64_t{40}}) {
    unsigned nth = 1;
    for (bool over = false; !over; ++nth) {
      ASSERT_LT(nth, 100u);
      transaction tx(f);
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_add_range(tx, oid, from, 200, &p));
      const bytes part = pattern(10 + nth + 100 * from, 200);
      std::copy(part.begin(), part.end(), content.begin() + static_cast<ptrdiff_t>(from));
      std::memcpy(p, part.data(), part.size());
      struct moment {
        std::byte* payload;
        unsigned left;
      } now{f.raw(object.payload), nth};
      this_thread_waits.arg = &now;
      this_thread_waits.pass = [](void* arg) {
        auto& m = *static_cast<moment*>(arg);
        if (--m.left != 0) return;
        this_thread_waits = {};
        const bytes noise = pattern(77, 480);
        std::memcpy(m.payload, noise.data(), noise.size());
      };
      ASSERT_EQ(SCUTE_OK, tx.commit()) << from << ", " << nth << ": " << scute_errormsg();
      over = this_thread_waits.pass != nullptr;
      this_thread_waits = {};
      ASSERT_TRUE(f.read(oid) == content) << from << ", " << nth << ": " << scute_errormsg();
      expect_repairable();
    }
    EXPECT_GT(nth, 3u);
  }
}

// The same bytes as before, in a transaction that has something else to write as well.
TEST_P(repaired_meanwhile, commit_of_what_it_is_already) {
  const scute_oid other = f.alloc(pattern(3, 100));
  commit_beside_a_repairer(
      {tag(), checksum(), payload(25)},
      [this, other](transaction& tx, unsigned nth, bytes& content, auto&& strike) {
        void *p = nullptr, *q = nullptr;
        SCUTE_OKAY(scute_tx_open(tx, oid, &p));
        SCUTE_OKAY(scute_tx_open(tx, other, &q));
        std::memcpy(p, content.data(), content.size());
        std::memset(q, static_cast<int>(nth), 100);
        strike();
      });
}

// Damage turns the object into what the transaction makes of it. (SEAL-3)
TEST_P(repaired_meanwhile, commit_of_what_damage_has_written) {
  commit_beside_a_repairer({payload(100)},
                           [this](transaction& tx, unsigned, bytes& content, auto&& strike) {
                             void* p = nullptr;
                             SCUTE_OKAY(scute_tx_open(tx, oid, &p));
                             content[100] ^= 0x5a;
                             std::memcpy(p, content.data(), content.size());
                             strike();
                           });
}

// Damaged when it is freed, and repaired when that is committed. (CONFLICT-1)
TEST_P(repaired_meanwhile, free_of_a_damaged_object) {
  free_of_damage([this](uint64_t at) { flip(at); }, [](uint64_t) {});
}

// Beyond repair when it is freed, and repaired when that is committed. (CONFLICT-1, VERIFY-2)
TEST_P(repaired_meanwhile, free_of_a_lost_object) {
  // A bit that both rows have wrong (BITFLIP-3).
  const auto parity_of = [this](uint64_t at) {
    const pool::cell c = pool::cell_of(s->geo, at);
    return pool::parity_offset(s->geo, c.zone, c.column);
  };
  free_of_damage(
      [&](uint64_t at) {
        flip(at, 3);
        flip(parity_of(at), 6);
      },
      [&](uint64_t at) { flip(parity_of(at), 6); });
}

// PREWRITE-1. Damage to the payload of a large object that is in its place and has no header yet,
// and a scrub.
TEST_P(repaired_meanwhile, commit_of_a_prewritten_object) {
  const bytes content = pattern(9, 100000);
  transaction tx(f);
  scute_oid large = 0;
  void* p = nullptr;
  SCUTE_OKAY(scute_tx_alloc(tx, content.size(), 1, &large, &p));
  std::memcpy(p, content.data(), content.size());
  struct moment {
    scute_pool* pool;
    const std::byte* prewritten;
    std::byte last;
    bool struck;
  } now{f.pool, f.raw(f.offset_of(large)), std::byte{content[99999]}, false};
  this_thread_waits.arg = &now;
  this_thread_waits.pass = [](void* arg) {
    auto& m = *static_cast<moment*>(arg);
    if (m.prewritten[99999] != m.last) return;
    this_thread_waits = {};
    m.struck = true;
    const_cast<std::byte*>(m.prewritten)[50000] ^= std::byte{0x11};
    std::thread([&m] {
      scute_report r{};
      r.struct_size = sizeof r;
      SCUTE_OKAY_E(scute_scrub(m.pool, nullptr, &r));
      EXPECT_EQ(r.damaged, 1u);
      EXPECT_EQ(r.repaired, 0u);
    }).join();
  };
  SCUTE_OKAY(tx.commit());
  EXPECT_TRUE(now.struck);
  EXPECT_TRUE(f.read(large) == content) << scute_errormsg();
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_scrub(f.pool, nullptr, &r));
  EXPECT_EQ(r.lost, 0u);
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Engines, repaired_meanwhile,
                         ::testing::Values(engine_and_size{SCUTE_ENGINE_LOGFREE, small},
                                           engine_and_size{SCUTE_ENGINE_LOGFREE, several},
                                           engine_and_size{SCUTE_ENGINE_REDO, small},
                                           engine_and_size{SCUTE_ENGINE_REDO, several},
                                           engine_and_size{SCUTE_ENGINE_SPEC, small},
                                           engine_and_size{SCUTE_ENGINE_SPEC, several}));

}  // namespace
}  // namespace scute::test

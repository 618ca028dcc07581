// SPDX-License-Identifier: BSD-3-Clause
// POOL-6: what memory knows of the chunks is what their headers say. After any history a reopened
// pool has the same chunks, the same objects and the same room.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

using state =
    std::map<std::pair<uint64_t, uint64_t>, std::tuple<std::string, uint64_t, uint64_t, uint64_t>>;

state chunks(pool_file& f) {
  state s;
  const int e = scute_visit_chunks(
      f,
      [](void* arg, const scute_chunk_info* c) {
        // An empty run is as good as a free chunk, and becomes one when an allocation needs it.
        const bool empty = std::string(c->kind) == "free" ||
                           (std::string(c->kind) == "run" && c->used == 0) ||
                           std::string(c->kind) == "span-body";
        if (!empty)
          (*static_cast<state*>(arg))[{c->zone, c->chunk}] = {c->kind, c->slot_size, c->used,
                                                              c->length};
        return 0;
      },
      &s);
  EXPECT_EQ(e, 0) << scute_errormsg();
  return s;
}

class rebuild : public testing::TestWithParam<pool_kind> {};

// HEAP-2: its sessions free slots of chunks that nothing was allocated from; ZONE-1.
TEST_P(rebuild, FromHeadersAfterRandomHistory) {
  SCUTE_RANDOM(random);
  pool_file f;
  f.create(4 * mib, GetParam());
  std::map<scute_oid, uint64_t> live;
  for (int session = 0; session < 6; ++session) {
    for (int i = 0; i < 300; ++i) {
      transaction tx(f);
      std::map<scute_oid, uint64_t> next = live;
      for (uint64_t k = random.between(1, 8); k != 0; --k) {
        if (next.size() > 10 && random.between(0, 99) < (session % 2 == 0 ? 40u : 60u)) {
          auto it = next.begin();
          std::advance(it, static_cast<long>(random.between(0, next.size() - 1)));
          SCUTE_OKAY(scute_tx_free(tx, it->first));
          next.erase(it);
        } else {
          const uint64_t n = random.size(random.one_in(10) ? 100000 : 6000);
          scute_oid oid = 0;
          void* p = nullptr;
          const int e = scute_tx_alloc(tx, n, 1, &oid, &p);
          if (e == SCUTE_E_NOSPC) continue;
          SCUTE_OKAY(e);
          ASSERT_TRUE(next.emplace(oid, n).second);
        }
      }
      if (random.one_in(4)) {
        SCUTE_OKAY(tx.abort());
      } else {
        SCUTE_OKAY(tx.commit());
        live = std::move(next);
      }
    }
    f.expect_sound();
    f.in().heap->clear_chunk_cache(f.in().s.lanes.front());  // as closing does
    const state before = chunks(f);
    f.reopen();
    EXPECT_EQ(chunks(f), before);
    std::map<scute_oid, uint64_t> seen;
    scute_oid oid = 0;
    for (int e = scute_first(f, SCUTE_TYPE_ANY, &oid); e == 0 && oid != 0;
         e = scute_next(f, oid, SCUTE_TYPE_ANY, &oid))
      SCUTE_OKAY(scute_object_info(f, oid, &seen[oid], nullptr, nullptr));
    EXPECT_EQ(seen, live);
    f.expect_sound();
    if (HasFailure()) return;
  }
  for (const auto& [oid, n] : live) ASSERT_EQ(SCUTE_OK, f.free(oid)) << scute_errormsg();
  // Those of a log that the pool was made with stay.
  if (GetParam().engine != SCUTE_ENGINE_SPEC) {
    EXPECT_TRUE(chunks(f).empty());
  }
  EXPECT_NE(f.alloc(bytes(scute_alloc_max(f))), 0u)
      << "everything is free again: " << scute_errormsg();
}

INSTANTIATE_TEST_SUITE_P(Protection, rebuild, every_protection, protection_name);

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Misuse of transactions, and one object at a time.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include "hostile/misuse_list.hpp"

namespace scute::test {
namespace {

using stage = misuse_stage;

// ---- transactions -------------------------------------------------------------------------------

void tx_begin(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_tx_begin(nullptr, &s.tx));
  REFUSED(SCUTE_E_INVALID, scute_tx_begin(s.pool, nullptr));
  {
    transaction tx(s.other);
    REFUSED(SCUTE_E_INVALID, scute_tx_begin(s.pool, &s.tx));
    REFUSED(SCUTE_E_INVALID, scute_tx_begin(nullptr, &s.tx));
    SCUTE_OKAY(tx.commit());
  }
  // More threads than lanes wait for one another.
  std::vector<std::thread> threads;
  std::atomic<uint64_t> done{0};
  for (unsigned t = 0; t < 4 * stage::lanes; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        transaction tx(s.pool);
        std::this_thread::yield();
        done += tx.commit() == SCUTE_OK ? 1 : 0;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(done, 50u * 4 * stage::lanes);
}

void tx_commit(stage& s) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_commit(bad)); });
  // An inner level has doomed the transaction: later calls have no effect.
  scute_tx *outer = nullptr, *inner = nullptr;
  void* at = nullptr;
  scute_oid made = 0;
  SCUTE_OKAY(scute_tx_begin(s.pool, &outer));
  SCUTE_OKAY(scute_tx_begin(s.pool, &inner));
  SCUTE_OKAY(scute_tx_abort(inner));
  SCUTE_OKAY(scute_tx_open(outer, s.live, &at));
  std::memset(at, 1, 100);
  SCUTE_OKAY(scute_tx_alloc(outer, 500, 1, &made, &at));
  SCUTE_OKAY(scute_tx_free(outer, s.big));
  REFUSED(SCUTE_E_ABORTED, scute_tx_commit(outer));
  REFUSED(SCUTE_E_NOTX, scute_tx_commit(outer));
}

void tx_abort(stage& s) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_abort(bad)); });
}

void tx_current(stage& s) {
  EXPECT_EQ(scute_tx_current(nullptr), nullptr);
  transaction tx(s.other);
  EXPECT_EQ(scute_tx_current(nullptr), nullptr);
  EXPECT_EQ(scute_tx_current(s.pool), nullptr);
  std::thread([&] { EXPECT_EQ(scute_tx_current(s.other), nullptr); }).join();
}

void tx_alloc(stage& s) {
  s.for_bad_handles(
      [&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_alloc(bad, 8, 1, &s.oid, &s.p)); });
  transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, scute_tx_alloc(tx, 8, 1, nullptr, &s.p));
  REFUSED(SCUTE_E_INVALID, scute_tx_alloc(tx, 0, 1, &s.oid, &s.p));
  for (const uint64_t size :
       {scute_alloc_max(s.pool) + 1, uint64_t{1} << 63, UINT64_MAX - 31, UINT64_MAX})
    REFUSED(SCUTE_E_RANGE, scute_tx_alloc(tx, size, 1, &s.oid, &s.p));
  for (const uint32_t type : {SCUTE_TYPE_ANY, 0xffffff01u, 0xffffff03u})
    REFUSED(SCUTE_E_INVALID, scute_tx_alloc(tx, 8, type, &s.oid, &s.p));
  SCUTE_OKAY(tx.commit());
  transaction looking(s.read_only);
  REFUSED(SCUTE_E_READONLY, scute_tx_alloc(looking, 8, 1, &s.oid, &s.p));
}

void alloc_max(stage& s) {
  EXPECT_EQ(scute_alloc_max(nullptr), 0u);
  EXPECT_LT(scute_alloc_max(s.pool), 2 * mib);
}

void overwrite_max(stage& s) {
  uint64_t n = 7;
  SCUTE_FAILS(SCUTE_E_INVALID, scute_overwrite_max(nullptr, &n));
  EXPECT_EQ(n, 7u);
  SCUTE_FAILS(SCUTE_E_INVALID, scute_overwrite_max(s.pool, nullptr));
  SCUTE_OKAY(scute_overwrite_max(s.read_only, &n));
  EXPECT_LT(n, 2 * mib);
}

void tx_free(stage& s) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, scute_tx_free(bad, s.live)); });
  {
    transaction tx(s.pool);
    s.for_bad_oids([&](int code, scute_oid bad) { REFUSED(code, scute_tx_free(tx, bad)); });
    void* at = nullptr;
    scute_oid brief = 0;
    SCUTE_OKAY(scute_tx_free(tx, s.live));
    REFUSED(SCUTE_E_FREED, scute_tx_free(tx, s.live));
    SCUTE_OKAY(scute_tx_inplace(tx, s.big, 0, 8, &at));
    REFUSED(SCUTE_E_INVALID, scute_tx_free(tx, s.big));
    SCUTE_OKAY(scute_tx_alloc(tx, 50, 1, &brief, nullptr));
    SCUTE_OKAY(scute_tx_free(tx, brief));
    REFUSED(SCUTE_E_FREED, scute_tx_free(tx, brief));
    SCUTE_OKAY(tx.abort());
    REFUSED(SCUTE_E_FREED, s.pool.free(brief));
  }
  EXPECT_EQ(SCUTE_E_READONLY, s.read_only.free(s.read_only_live));
}

// The calls that take an oid and give an address.
template <typename Call>
void addressing_misuse(stage& s, Call call) {
  s.for_bad_handles([&](scute_tx* bad) { REFUSED(SCUTE_E_NOTX, call(bad, s.live, true)); });
  transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, call(tx, s.live, false));
  s.for_bad_oids([&](int code, scute_oid bad) { REFUSED(code, call(tx, bad, true)); });
  SCUTE_OKAY(scute_tx_free(tx, s.live));
  REFUSED(SCUTE_E_FREED, call(tx, s.live, true));
  scute_oid brief = 0;
  SCUTE_OKAY(scute_tx_alloc(tx, 50, 1, &brief, nullptr));
  SCUTE_OKAY(scute_tx_free(tx, brief));
  REFUSED(SCUTE_E_FREED, call(tx, brief, true));
  SCUTE_OKAY(tx.abort());
}

// The call reports nothing about oids: it is a hint.
void tx_prefetch(stage& s) {
  s.for_bad_handles(
      [&](scute_tx* tx) { REFUSED(SCUTE_E_NOTX, scute_tx_prefetch(tx, &s.live, 1)); });
  transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, scute_tx_prefetch(tx, nullptr, 1));
  SCUTE_OKAY(scute_tx_prefetch(tx, nullptr, 0));
  s.for_bad_oids([&](int, scute_oid bad) { SCUTE_OKAY(scute_tx_prefetch(tx, &bad, 1)); });
  SCUTE_OKAY(tx.abort());
}

void tx_open(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_open(tx, o, out ? &s.p : nullptr);
  });
  transaction looking(s.read_only);
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_open(looking, s.read_only_live, &at));
  std::memset(at, 1, 100);
  REFUSED(SCUTE_E_READONLY, looking.commit());
  EXPECT_TRUE(s.read_only.read(s.read_only_live) == pattern(5, 100));
}

void tx_add_range(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_add_range(tx, o, 0, 8, out ? &s.p : nullptr);
  });
  transaction tx(s.pool);
  stage::for_bad_ranges(9000, [&](int code, uint64_t offset, uint64_t length) {
    REFUSED(code, scute_tx_add_range(tx, s.big, offset, length, &s.p));
  });
}

void tx_inplace(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_inplace(tx, o, 0, 8, out ? &s.p : nullptr);
  });
  {
    transaction tx(s.pool);
    stage::for_bad_ranges(9000, [&](int code, uint64_t offset, uint64_t length) {
      REFUSED(code, scute_tx_inplace(tx, s.big, offset, length, &s.p));
    });
  }
  transaction looking(s.read_only);
  REFUSED(SCUTE_E_READONLY, scute_tx_inplace(looking, s.read_only_live, 0, 8, &s.p));
}

void tx_reading(stage& s) {
  const auto expect = [](const scute_tx_reads* r, bool direct, uint64_t touched) {
    EXPECT_EQ(r->units != 0, direct);
    EXPECT_EQ(r->touched, touched);
  };
  expect(scute_tx_reading(nullptr), false, UINT64_MAX);
  transaction tx(s.pool);
  expect(scute_tx_reading(tx), true, 0);
  REFUSED(SCUTE_E_OID, scute_tx_open(tx, SCUTE_OID_NULL, &s.p));
  expect(scute_tx_reading(tx), true, 0);
  SCUTE_OKAY(scute_tx_open(tx, s.live, &s.p));
  expect(scute_tx_reading(tx), false, SCUTE_TOUCHED_BIT(s.live));
  const scute_tx_reads* const last = scute_tx_reading(tx);
  SCUTE_OKAY(tx.commit());
  expect(last, false, UINT64_MAX);  // of a transaction that has ended
}

void tx_get(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_get(tx, o, out ? &s.q : nullptr);
  });
}

void tx_get_range(stage& s) {
  addressing_misuse(s, [&](scute_tx* tx, scute_oid o, bool out) {
    return scute_tx_get_range(tx, o, 0, 8, out ? &s.q : nullptr);
  });
  transaction tx(s.pool);
  stage::for_bad_ranges(9000, [&](int code, uint64_t offset, uint64_t length) {
    REFUSED(code, scute_tx_get_range(tx, s.big, offset, length, &s.q));
  });
}

// ---- one object at a time -----------------------------------------------------------------------

void obj_open(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_obj_open(nullptr, s.live, &s.p));
  REFUSED(SCUTE_E_INVALID, scute_obj_open(s.pool, s.live, nullptr));
  s.for_bad_oids(
      [&](int code, scute_oid bad) { REFUSED(code, scute_obj_open(s.pool, bad, &s.p)); });
}

void obj_commit(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_obj_commit(nullptr));
  alignas(64) char mine[512] = {};
  REFUSED(SCUTE_E_INVALID, scute_obj_commit(mine + 256));
  void* at = nullptr;
  SCUTE_OKAY(scute_obj_open(s.pool, s.live, &at));
  std::memset(at, 1, 100);
  {
    transaction tx(s.pool);
    REFUSED(SCUTE_E_INVALID, scute_obj_commit(at));
    SCUTE_OKAY(tx.commit());
  }
  SCUTE_OKAY(scute_obj_open(s.read_only, s.read_only_live, &at));
  std::memset(at, 1, 100);
  REFUSED(SCUTE_E_READONLY, scute_obj_commit(at));
  EXPECT_TRUE(s.read_only.read(s.read_only_live) == pattern(5, 100));
}

void obj_discard(stage&) {
  scute_obj_discard(nullptr);
  alignas(64) char mine[512] = {};
  scute_obj_discard(mine + 256);
}

}  // namespace

#define MISUSE(name) {"scute_" #name, name}
void list_misuse_of_transactions(misuse_list& to) {
  to.insert({MISUSE(tx_begin), MISUSE(tx_commit), MISUSE(tx_abort), MISUSE(tx_current),
             MISUSE(tx_alloc), MISUSE(alloc_max), MISUSE(overwrite_max), MISUSE(tx_free),
             MISUSE(tx_open), MISUSE(tx_prefetch), MISUSE(tx_add_range), MISUSE(tx_inplace),
             MISUSE(tx_reading), MISUSE(tx_get), MISUSE(tx_get_range), MISUSE(obj_open),
             MISUSE(obj_commit), MISUSE(obj_discard)});
}

}  // namespace scute::test

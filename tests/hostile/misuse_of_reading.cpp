// SPDX-License-Identifier: BSD-3-Clause
// Misuse of reading.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include "hostile/misuse_list.hpp"

namespace scute::test {
namespace {

using stage = misuse_stage;

// ---- reading ------------------------------------------------------------------------------------

void get(stage& s) {
  EXPECT_EQ(scute_get(nullptr, s.live), nullptr);
  for (const scute_oid bad : {scute_oid{0}, s.foreign, s.live & 0xffff'ffff'ffffu,
                              s.live | 0xffff'ffff'ffffu, scute_oid{UINT64_MAX}}) {
    EXPECT_EQ(scute_get(s.pool, bad), nullptr);
    EXPECT_STRNE(scute_errormsg(), "");
  }
}

void get_verified(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_get_verified(nullptr, s.live, &s.q));
  REFUSED(SCUTE_E_INVALID, scute_get_verified(s.pool, s.live, nullptr));
  s.for_bad_oids(
      [&](int code, scute_oid bad) { REFUSED(code, scute_get_verified(s.pool, bad, &s.q)); });
}

void get_committed(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_get_committed(nullptr, s.live, 0, 8, &s.q));
  REFUSED(SCUTE_E_INVALID, scute_get_committed(s.pool, s.live, 0, 8, nullptr));
  // Without a policy that tests, only what cannot be in the pool at all is refused.
  for (const scute_oid bad : {scute_oid{0}, s.foreign, s.live & 0xffff'ffff'ffffu, UINT64_MAX})
    REFUSED(SCUTE_E_OID, scute_get_committed(s.pool, bad, 0, 8, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(s.pool, s.live, 0, UINT64_MAX, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(s.pool, s.live, UINT64_MAX, 8, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(s.pool, s.live, 2 * mib, 8, &s.q));
  // Under policy conservative everything is.
  pool_file careful;
  scute_options o = options();
  o.policy = SCUTE_POLICY_CONSERVATIVE;
  careful.create(o);
  const scute_oid gone = careful.alloc(pattern(1, 100)), big = careful.alloc(pattern(2, 9000));
  SCUTE_OKAY(careful.free(gone));
  REFUSED(SCUTE_E_FREED, scute_get_committed(careful, gone, 0, 8, &s.q));
  EXPECT_EQ(scute_get(careful, gone), nullptr);
  REFUSED(SCUTE_E_OID, scute_get_committed(careful, big + 32, 0, 8, &s.q));
  EXPECT_EQ(scute_get(careful, big + 32), nullptr);
  REFUSED(SCUTE_E_RANGE, scute_get_committed(careful, big, 8999, 2, &s.q));
  REFUSED(SCUTE_E_RANGE, scute_get_committed(careful, big, 9001, 0, &s.q));
}

void direct_base(stage& s) {
  EXPECT_EQ(scute_direct_base(nullptr), 0u);
  EXPECT_NE(scute_direct_base(s.pool), 0u);
}

void object_info(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_object_info(nullptr, s.live, &s.number, nullptr, nullptr));
  SCUTE_OKAY(scute_object_info(s.pool, s.live, nullptr, nullptr, nullptr));
  const auto bad = [&](int code, scute_oid o) {
    REFUSED(code, scute_object_info(s.pool, o, &s.number, &s.number, nullptr));
  };
  s.for_bad_oids(bad);
  transaction tx(s.pool);
  s.for_bad_oids(bad);
}

void committed_info(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_committed_info(nullptr, s.live, &s.number, nullptr, nullptr));
  SCUTE_OKAY(scute_committed_info(s.pool, s.live, nullptr, nullptr, nullptr));
  const auto bad = [&](int code, scute_oid o) {
    REFUSED(code, scute_committed_info(s.pool, o, &s.number, &s.number, nullptr));
  };
  s.for_bad_oids(bad);
  transaction tx(s.pool);
  s.for_bad_oids(bad);
}

void first(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_first(nullptr, 1, &s.oid));
  REFUSED(SCUTE_E_INVALID, scute_first(s.pool, 1, nullptr));
}

void next(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_next(nullptr, s.live, 1, &s.oid));
  REFUSED(SCUTE_E_INVALID, scute_next(s.pool, s.live, 1, nullptr));
  s.for_bad_oids([&](int code, scute_oid bad) {
    // A caller may ask for the successor of a freed object, as it may be freed during the walk.
    if (code != SCUTE_E_FREED) REFUSED(code, scute_next(s.pool, bad, 1, &s.oid));
  });
}

}  // namespace

#define MISUSE(name) {"scute_" #name, name}
void list_misuse_of_reading(misuse_list& to) {
  to.insert({MISUSE(get), MISUSE(get_verified), MISUSE(direct_base), MISUSE(object_info),
             MISUSE(committed_info), MISUSE(first), MISUSE(next), MISUSE(get_committed)});
}

}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Damage while a check runs (CHECK-2): at any moment, to what the check has looked at or not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/damage.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class damaged_meanwhile : public testing::TestWithParam<pool_kind> {};

TEST_P(damaged_meanwhile, ObjectsAreRepairedWheneverTheyAreHit) {
  random_source random(test_seed());
  known_pool f;
  scute_options o = options(40 * mib, GetParam());
  o.rows = 8;
  f.create(o);
  std::vector<scute_oid> objects;
  for (uint64_t i = 0; i < 4000; ++i) objects.push_back(f.alloc(pattern(i, 3000)));
  for (uint64_t i = 0; i < 100; ++i) objects.push_back(f.alloc(pattern(4000 + i, 20000)));
  f.in().drain();
  struct strike {
    known_pool& f;
    uint64_t at, calls_left;
    uint64_t calls = 0;
  };
  const auto at_each_call = [](void* arg, const char*, uint64_t, uint64_t) {
    auto& s = *static_cast<strike*>(arg);
    ++s.calls;
    if (--s.calls_left == 0) s.f.raw(s.at)[0] ^= std::byte{0x10};
  };
  uint64_t moments = 0;
  for (uint64_t call = 1;; ++call) {
    uint64_t calls = 0;
    for (int again = 0; again < 20; ++again) {
      const uint64_t i = random.between(0, objects.size() - 1);
      const uint64_t size = i < 4000 ? 3000 : 20000;
      strike s{f, f.offset_of(objects[i]) + random.between(0, size - 1), call};
      scute_report r{};
      r.struct_size = sizeof r;
      SCUTE_OKAY(scute_check(f.pool, 1, &r, nullptr, at_each_call, &s));
      calls = s.calls;
      EXPECT_EQ(r.lost, 0u);
      ASSERT_TRUE(f.read(objects[i]) == pattern(i, size))
          << "at call " << call << ": " << scute_errormsg();
    }
    if (calls < call) break;
    ++moments;
  }
  EXPECT_GT(moments, 5u);
  EXPECT_EQ(f.in().s.lost.load(), 0u);
  f.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Engines, damaged_meanwhile,
                         testing::Values(pool_kind{SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO},
                                         pool_kind{SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE},
                                         pool_kind{SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 2},
                                         pool_kind{SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC}),
                         [](const auto& x) {
                           return std::string(x.param.engine == SCUTE_ENGINE_REDO      ? "redo"
                                              : x.param.engine == SCUTE_ENGINE_LOGFREE ? "logfree"
                                                                                       : "spec") +
                                  (x.param.parity == 2 ? "2" : "");
                         });

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Resolution of a log-free pool that is damaged all over: recovery repeats no search that cannot
// find more than before (RES-14). Every block asks its neighbours before it gives up (RES-10).
// Without RES-14 the searches would go with the square of the damage.
#include <gtest/gtest.h>

#include "core/engine/logfree/resolution.hpp"
#include "support/power_failure.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class all_over : public testing::TestWithParam<uint32_t> {
 protected:
  void create(uint64_t count, uint64_t size) {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, GetParam()});
    o.rows = 6;
    f.create(o);
    bytes_each = size;
    for (uint64_t i = 0; i < count; ++i) oids.push_back(f.alloc(pattern(i, size)));
    f.in().drain();
  }
  // Opens the pool with this image as after a power failure, and resolves all of it. Returns how
  // often was searched.
  uint64_t resolve(const bytes& image) {
    come_up(f, image);
    auto* const r = dynamic_cast<engine::resolution*>(f.in().s.resolving);
    EXPECT_NE(r, nullptr);
    if (r == nullptr) return 0;
    while (r->scan(1)) {
    }
    return r->searches();
  }
  bool is_whole(uint64_t i) {
    const void* p = nullptr;
    return scute_get_verified(f, oids[i], &p) == SCUTE_OK &&
           std::memcmp(p, pattern(i, bytes_each).data(), bytes_each) == 0;
  }

  pool_file f;
  std::vector<scute_oid> oids;
  uint64_t bytes_each = 0;
};

// Objects that fill the rows, with a byte changed in every 256: 735 fragments, of which one parity
// brings none back. (Each search again: 66,000 with one parity, 7,500 with two.)
TEST_P(all_over, NoSearchIsMadeAgainInVain) {
  constexpr uint64_t fragments = 735;
  create(3, 1'000'000);
  bytes image = read_file(f.path);
  const auto g = f.in().s.geo;
  for (uint64_t at = g.zones_offset + g.chunk_base; at < g.zones_end(); at += 256)
    image[at + at / 256 * 37 % 256] ^= 0x5a;
  const uint64_t made = resolve(image);
  EXPECT_GE(made, fragments) << "they were not damaged";
  EXPECT_LT(made, GetParam() == 1 ? 2 * fragments : 7 * fragments);
  if (GetParam() == 1) {
    for (uint64_t i = 0; i < 3; ++i) EXPECT_FALSE(is_whole(i)) << i;
  }
}

// All repairable damage is repaired.
TEST_P(all_over, OfSmallInjuriesAllAreRepaired) {
  create(700, 3000);
  bytes image = read_file(f.path);
  for (uint64_t i = 0; i < 48; i += 2)
    for (uint64_t at = 0; at < bytes_each; at += 485) image[f.offset_of(oids[i]) + at + i] ^= 0x33;
  resolve(image);
  for (uint64_t i = 0; i < oids.size(); ++i) EXPECT_TRUE(is_whole(i)) << i;
}

INSTANTIATE_TEST_SUITE_P(Parities, all_over, testing::Values(1u, 2u));

}  // namespace
}  // namespace scute::test

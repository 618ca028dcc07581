// SPDX-License-Identifier: BSD-3-Clause
// RECOVER-4: chunks that were lent to logs when the process died, and whose headers are damaged.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

class lent_header : public testing::TestWithParam<pool_kind> {};

TEST_P(lent_header, ChunkInColumnsThatAreReplayedTo) {
  constexpr uint64_t size = 50000;
  pool_file f;
  scute_options o = options(4 * mib, GetParam());
  o.rows = 4;
  f.create(o);
  const auto g = f.in().s.geo;
  std::map<scute_oid, bytes> objects;
  for (uint64_t i = 0; i < 40; ++i) {
    const bytes content = pattern(i, size);
    objects[f.alloc(content)] = content;
  }
  f.in().drain();
  const std::vector<uint64_t> lent = f.in().heap->lend(f.in().s.lanes.front(), 2);
  ASSERT_EQ(lent.size(), 2u);
  // The object that the test changes last, and where it meets a lent chunk.
  scute_oid changed = 0;
  uint64_t at = 0;
  for (const uint64_t chunk : lent) {
    std::memset(f.raw(chunk), 0x77, g.chunk_size);
    const auto c = pool::cell_of(g, chunk);
    for (const auto& [oid, content] : objects)
      for (uint64_t p = 0; p + 600 < size; p += 600) {
        const auto here = pool::cell_of(g, f.offset_of(oid) + p);
        if (here.column >= c.column && here.column + 600 <= c.column + g.chunk_size)
          changed = oid, at = p;
      }
  }
  ASSERT_NE(changed, 0u);
  {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, changed, at, 500, &p));
    std::memset(p, 0x11, 500);
    SCUTE_OKAY(tx.commit());
    std::memset(objects[changed].data() + at, 0x11, 500);
  }
  bytes image = read_file(f.path);
  // Nothing says that the last entry of a lane was applied.
  for (uint32_t lane = 0; lane < g.lane_count && GetParam().engine == SCUTE_ENGINE_REDO; ++lane)
    for (uint32_t r = 0; r < g.lane_replicas; ++r)
      std::memset(image.data() + g.lane_offset(lane, r), 0, 16);
  for (const uint64_t chunk : lent) {
    const auto index = static_cast<uint32_t>((chunk - g.chunk_offset(0, 0)) >> g.chunk_shift);
    image[g.chunk_header_offset(0, index) + 40] ^= 4;
  }
  f.in().abandon();
  scute_close(f.pool);
  f.pool = nullptr;
  write_file(f.path, image);
  f.open();
  EXPECT_EQ(f.info().clean, 0);
  EXPECT_GE(f.info().recovered, 1u);
  f.reopen();
  f.expect_sound();
  for (const auto& [oid, content] : objects) EXPECT_TRUE(f.read(oid) == content) << oid;
}

INSTANTIATE_TEST_SUITE_P(Engine, lent_header,
                         testing::Values(pool_kind(SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC)));

}  // namespace
}  // namespace scute::test

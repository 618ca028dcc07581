// SPDX-License-Identifier: BSD-3-Clause
// The chunk header of a large object is beyond repair: the object cannot be opened any more, and no
// other object gets the room that it takes.
#include <gtest/gtest.h>

#include <cstring>

#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

TEST(lost_head, TheRestOfAnObjectIsNotGivenAway) {
  for (const auto level : {SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML}) {
    pool_file f;
    f.create(options(8 * mib, {level, SCUTE_ENGINE_REDO}));
    const auto g = f.in().s.geo;
    const bytes content = pattern(1, 5 * g.chunk_size);
    const scute_oid large = f.alloc(content), before = f.alloc(pattern(2, 5 * g.chunk_size));
    const uint64_t at = f.offset_of(large);
    const auto head = static_cast<uint32_t>(f.in().heap->zones().locate(at).chunk -
                                            f.in().heap->zones().get(0).chunks.get());
    f.close();
    {
      bytes file = read_file(f.path);
      file[g.chunk_header_offset(0, head) + 9] ^= 1;
      write_file(f.path, file);
    }
    f.open();
    const auto holds = [&] { return std::memcmp(f.raw(at), content.data(), content.size()) == 0; };
    ASSERT_TRUE(holds());
    // Of all sizes, until there is no room for any.
    for (const uint64_t n :
         {uint64_t{3} * g.chunk_size, uint64_t{g.chunk_size}, uint64_t{1000}, uint64_t{64}})
      for (;;) {
        transaction tx(f);
        scute_oid oid = 0;
        void* p = nullptr;
        int result = scute_tx_alloc(tx, n, 1, &oid, &p);
        if (result == SCUTE_OK) std::memset(p, 0x55, n);
        if (result == SCUTE_OK) result = tx.commit();
        if (result == SCUTE_OK) continue;
        EXPECT_EQ(result, SCUTE_E_NOSPC) << scute_errormsg();
        break;
      }
    EXPECT_TRUE(holds());
    EXPECT_TRUE(f.read(before) == pattern(2, 5 * g.chunk_size));
    const void* p = nullptr;
    SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f.pool, large, &p));
    f.close();
    f.open();
    EXPECT_TRUE(holds());
  }
}

}  // namespace
}  // namespace scute::test

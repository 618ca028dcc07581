// SPDX-License-Identifier: BSD-3-Clause
// Pools that are larger than 4 GiB, and than the machine's memory by far: files with holes, of
// which little is ever touched.
#include <gtest/gtest.h>

#include "core/engine/speculative/block_table.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

// Chunks of a zone take more than 4 GiB; the largest span is what the log leaves of it, in the
// session that makes it and in others.
TEST(spec_large_pool, SaysWhatObjectsItCanHold) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    pool_file f(where);
    scute_options o = options(8 * gib, {SCUTE_PROTECT_NONE, SCUTE_ENGINE_SPEC});
    o.medium = where == scratch::disk ? SCUTE_MEDIUM_FILE : SCUTE_MEDIUM_AUTO;
    f.create(o);
    const uint64_t most = scute_alloc_max(f);
    EXPECT_GT(most, 7 * gib);
    f.close();
    o.flags = 0;
    SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
    EXPECT_EQ(scute_alloc_max(f), most);
  }
}

#if defined(__SANITIZE_THREAD__)
constexpr uint64_t largest = 1024 * gib;  // of the addresses it leaves few to a program
#else
constexpr uint64_t largest = SCUTE_SIZE_MAX;
#endif

// TABLE-4: the tables for it would be larger than any machine's memory.
TEST(spec_large_pool, TakesMemoryWhereItIsTouched) {
  pool::state s;
  s.geo = pool::choose_geometry(options(largest, {SCUTE_PROTECT_NONE, SCUTE_ENGINE_SPEC}));
  s.has_parity = false;
  engine::block_table table(s);
  engine::block_table::list taken = table.new_list();
  EXPECT_GE(taken.capacity(), largest / 4096);
  const uint64_t last = largest - 4096, b = table.number_of(last);
  table.stored(b, last, 64, engine::block_table::bytes_are::in_record);
  table.recorded(b, 7);
  EXPECT_TRUE(table.imaged(last, 64));
  table.take_list(taken, 10);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.front(), b);
}

}  // namespace
}  // namespace scute::test

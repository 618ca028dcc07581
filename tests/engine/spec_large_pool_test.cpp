// SPDX-License-Identifier: BSD-3-Clause
// Pools that are larger than 4 GiB, and than the machine's memory by far: files with holes, of
// which little is ever touched.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

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

// 5 GiB in --all, alone (tests/CMakeLists.txt). The object is whole after a kill.
TEST(spec_large_pool, AllocatesInTheSessionThatCreatesIt) {
  const char* const asked = std::getenv("SCUTE_TEST_MIB");  // NOLINT(concurrency-mt-unsafe)
  const uint64_t size = (asked == nullptr ? 64 : std::stoull(asked)) * mib;
  pool_file f(scratch::disk);
  scute_options o = options(8 * gib, {SCUTE_PROTECT_NONE, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  f.create(o);
  ASSERT_LE(size, scute_alloc_max(f));
  scute_tx* tx = nullptr;
  scute_oid oid = 0;
  void* to = nullptr;
  SCUTE_OKAY(scute_tx_begin(f, &tx));
  SCUTE_OKAY(scute_tx_alloc(tx, size, 1, &oid, &to));
  auto* const made = static_cast<unsigned char*>(to);
  for (const uint64_t at : {uint64_t{0}, size / 2, size - 1}) made[at] = 7;
  SCUTE_OKAY(scute_tx_commit(tx));
  f.in().abandon();
  f.close();
  o.flags = 0;
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  const void* there = nullptr;
  SCUTE_OKAY(scute_get_verified(f, oid, &there));
  const auto* const found = static_cast<const unsigned char*>(there);
  for (const uint64_t at : {uint64_t{0}, size / 2, size - 1}) EXPECT_EQ(found[at], 7) << at;
  EXPECT_EQ(found[size / 3], 0);
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

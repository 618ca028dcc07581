// SPDX-License-Identifier: BSD-3-Clause
// Noise in space that nothing has ever used. Where the format calls such space zeros, it
// describes a new file. No reader relies on the zeros, and a thread that takes the space into
// use initializes it. So a check reports nothing of the noise, and this test shows that it may
// report nothing.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>

#include "scrub/scrubbing.hpp"
#include "support/child.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

class never_used : public testing::TestWithParam<pool_kind> {
 protected:
  struct allocation {
    scute_oid oid;
    uint64_t key;
  };
  // The facts that a killed child leaves for its parent.
  struct record {
    std::atomic<uint64_t> count;
    allocation all[8192];
  };
  static constexpr size_t sizes[] = {40, 200, 1000, 4096, 9000, 40000, 300}, small_size = 40;
  static constexpr uint64_t small_keys = 2'000'000;

  void SetUp() override {
    scute_options o = options(GetParam().parity == 4 ? 6 * mib : 4 * mib, GetParam());
    o.rows = 4;
    o.chunk_size = 16384;
    f.create(o);
    f.fill();
    g = f.in().s.geo;
    for (uint64_t z = 0; z < g.zone_count; ++z)
      high.push_back(f.in().heap->zones().get(z).high_water.load());
    ASSERT_LT(high[0] + 64, g.chunks) << "too little was never used";
    f.close();
    void* at =
        ::mmap(nullptr, sizeof(record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    made = static_cast<record*>(at);
  }
  void TearDown() override { ::munmap(made, sizeof(record)); }

  void noise(uint64_t from, uint64_t to) {
    if (from >= to) return;
    const bytes junk = pattern(from, to - from);
    write_at(f.path, from, junk.data(), junk.size());
  }
  // Chunks, the remainder after the last one, and the bytes after the zones.
  void noise_in_chunks() {
    for (uint64_t z = 0; z < g.zone_count; ++z)
      noise(g.chunk_offset(z, high[z]), g.zone_offset(z) + g.data_size);
    noise(g.zones_end(), g.superblock_offset(2));
  }
  // The headers of these chunks, and the remainder after the table.
  void noise_in_headers() {
    for (uint64_t z = 0; z < g.zone_count; ++z)
      noise(g.chunk_header_offset(z, high[z]), g.zone_offset(z) + g.chunk_base);
  }
  // Until the pool is full: in the end small objects only.
  void allocate(std::chrono::microseconds rest = {}) {
    for (bool room = true; room && made->count < std::size(made->all);) {
      uint64_t key = 1'000'000 + made->count;
      scute_oid oid = f.alloc(pattern(key, sizes[key % std::size(sizes)]));
      if (oid == 0) oid = f.alloc(pattern(key += small_keys, small_size));
      room = oid != 0;
      if (room) note(oid, key);
      if (rest.count() != 0) pause(rest);
    }
  }
  void note(scute_oid oid, uint64_t key) {
    made->all[made->count] = {oid, key};
    made->count.fetch_add(1, std::memory_order_release);
  }
  void expect_all() {
    for (uint64_t i = 0; i < made->count; ++i) {
      const auto [oid, key] = made->all[i];
      const size_t n = key < small_keys ? sizes[key % std::size(sizes)] : small_size;
      ASSERT_TRUE(f.read(oid) == pattern(key, n)) << i;
    }
    for (const auto& [oid, content] : f.objects) ASSERT_TRUE(f.read(oid) == content);
  }
  void expect_clean() {
    f.expect_sound();
    const scrub_result r = run_scrub(f);
    EXPECT_EQ(r.report.damaged, 0u) << testing::PrintToString(r.findings);
  }
  // Takes all of it into use, with a kill in between.
  void use_all() {
    child worker([&] {
      f.open();
      allocate(std::chrono::microseconds(300));
    });
    ASSERT_TRUE(becomes_true([&] { return made->count.load(std::memory_order_acquire) >= 60; }));
    worker.end();
    f.open();
    EXPECT_EQ(f.info().clean, 0);
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    expect_all();
    expect_clean();
    f.reopen();
    allocate();
    for (uint64_t z = 0; z < g.zone_count; ++z)
      EXPECT_EQ(f.in().heap->zones().get(z).high_water.load(), g.chunks) << "it is not full";
    expect_all();
    expect_clean();
    f.reopen();
    expect_all();
    expect_clean();
  }

  known_pool f;
  pool::geometry g;
  std::vector<uint32_t> high;
  record* made = nullptr;
};

TEST_P(never_used, NoiseInChunksIsNoDamage) {
  noise_in_chunks();
  f.open();
  expect_clean();
  f.close();
  use_all();
}

// A reader that does not yet know how far a zone is in use must not take the noise for data.
TEST_P(never_used, NoiseAndADamagedDescriptor) {
  if (g.parity == 0) return;
  for (const bool clean : {true, false}) {
    SCOPED_TRACE(clean);
    noise_in_chunks();
    if (!clean) {
      child worker([&] {
        f.open();
        note(f.alloc(pattern(1'000'002, sizes[1'000'002 % std::size(sizes)])), 1'000'002);
      });
      ASSERT_EQ(worker.wait(), 0);
    }
    for (uint64_t z = 0; z < g.zone_count; ++z) {
      const bytes junk = pattern(z, sizeof(format::zone_descriptor));
      write_at(f.path, g.zone_offset(z), junk.data(), junk.size());
    }
    f.open();
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    EXPECT_EQ(f.info().lost, 0u);
    expect_all();
    expect_clean();
    f.close();
  }
}

// Where there is parity, these headers count for it: the noise is found, and the headers get the
// bytes that the parity gives.
TEST_P(never_used, NoiseInHeaders) {
  noise_in_headers();
  f.open();
  const scute_report r = f.check(true);
  if (g.parity == 0) {
    EXPECT_EQ(r.damaged, 0u);
  } else if (GetParam().protection == SCUTE_PROTECT_MLPC) {
    EXPECT_NE(r.damaged, 0u);
    EXPECT_EQ(r.repaired, r.damaged);
  } else {
    EXPECT_NE(r.damaged, 0u);
    return;  // nothing can tell the noise from the parity
  }
  f.close();
  noise_in_chunks();
  use_all();
}

INSTANTIATE_TEST_SUITE_P(Protection, never_used, every_protection, protection_name);

}  // namespace
}  // namespace scute::test

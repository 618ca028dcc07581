// SPDX-License-Identifier: BSD-3-Clause
// Damage to a shielded file and to what protects it, while the pool is closed and while it is open:
// the file's bytes come back exactly.
#include <gtest/gtest.h>

#include <utility>

#include "base/rounding.hpp"
#include "core/heap/regions.hpp"
#include "support/seed.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

namespace fs = std::filesystem;

class damage : public ::testing::TestWithParam<std::pair<scratch::where, scute_engine>> {
 protected:
  damage() : f(GetParam().first) {
    f.make(2 * mib + 1234);
    f.add(shielded::options(GetParam().second));
  }
  void inject(scute_injury kind, uint64_t offset, uint64_t length = 0) {
    scute_injection i;
    scute_injection_init(&i);
    i.kind = kind;
    i.offset = offset;
    i.length = length;
    SCUTE_OKAY(scute_inject(f.pool, &i, nullptr, nullptr, nullptr));
  }
  void expect_repaired() {
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_content();
    f.expect_sound();
    f.reopen();
    f.expect_content();
    f.expect_sound();
  }
  shielded f;
};

TEST_P(damage, FlippedBitsAreRepairedByReading) {
  f.open();
  for (const uint64_t at : {0ul, 4095ul, 4096ul, 777777ul, 2 * mib + 1233}) {
    f.flip(at);
    EXPECT_TRUE(f.read(at, 1)[0] == f.content[at]) << at;
  }
  f.expect_content();
  f.expect_sound();
}

TEST_P(damage, LostPages) {
  f.open();
  for (const uint64_t at : {uint64_t{0}, 40 * uint64_t{4096}, 2 * mib}) {
    inject(SCUTE_INJURE_LOSE_PAGE, f.place_of(at));
    f.expect_content();
    EXPECT_EQ(fs::file_size(f.path), f.content.size());
  }
  f.expect_sound();
  // Lost when it was closed, and found by the next session.
  inject(SCUTE_INJURE_LOSE_PAGE, f.place_of(mib));
  f.close();
  f.open();
  f.expect_content();
  expect_repaired();
}

TEST_P(damage, HeadersParityAndSuperblocks) {
  f.open();
  const uint64_t header = f.place_of(0) - 4096;  // some of those that lie before the payload
  for (const scute_region region : {SCUTE_REGION_PARITY, SCUTE_REGION_CHUNK_HEADER,
                                    SCUTE_REGION_ZONE_HEADER, SCUTE_REGION_OBJECT}) {
    scute_injection i;
    scute_injection_init(&i);
    i.region = region;
    i.count = 3;
    i.seed = 5;
    SCUTE_OKAY(scute_inject(f.pool, &i, nullptr, nullptr, nullptr));
    expect_repaired();
  }
  inject(SCUTE_INJURE_SCRIBBLE, header - 100, 64);
  expect_repaired();
  inject(SCUTE_INJURE_SCRIBBLE, 100, 300);
  expect_repaired();
  inject(SCUTE_INJURE_LOSE_PAGE, f.in().s.geo.superblock_offset(2));
  expect_repaired();
}

// A program truncates the file while it is in use: accesses fault, and Scute rebuilds the pages.
// (A file system may store zeros after the old end when the first page makes the file longer
// again. So Scute repairs the bytes before the end a second time.)
TEST_P(damage, TruncatedWhileOpen) {
  f.open();
  fs::resize_file(f.path, f.content.size() - 5000);
  EXPECT_TRUE(f.read(0, f.content.size()) == f.content);
  expect_repaired();
  EXPECT_EQ(fs::file_size(f.path), f.content.size());
}

TEST_P(damage, ScribbleOverManyPages) {
  f.open();
  const bytes noise = pattern(99, 3 * 4096 + 77);
  write_at(f.path, 1000000, noise.data(), noise.size());
  expect_repaired();
}

// Damage beyond the redundancy is reported, and nothing is wrong silently.
TEST_P(damage, BeyondTheRedundancy) {
  f.open();
  const uint64_t row = f.in().s.geo.row_size, first = f.place_of(0), at = first + row / 2;
  inject(SCUTE_INJURE_SCRIBBLE, at, 4096);
  inject(SCUTE_INJURE_SCRIBBLE, at + row, 4096);
  bytes all(f.content.size());
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_shield_read(f.pool, 0, all.data(), all.size()));
  EXPECT_GT(f.check(true).lost, 0u);
  const uint64_t sound = at - first - 8192;
  EXPECT_TRUE(f.read(0, sound) ==
              bytes(f.content.begin(), f.content.begin() + static_cast<long>(sound)));
}

TEST_P(damage, ScrubRepairsIt) {
  f.open();
  for (uint64_t at = 100; at < f.content.size(); at += 600000) f.flip(at);
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_scrub(f.pool, nullptr, &r));
  EXPECT_EQ(r.lost, 0u);
  EXPECT_GE(r.repaired, 4u);
  f.expect_content();
  f.expect_sound();
}

// The bytes after the file's end belong to no one, and a growth makes them zeros.
TEST_P(damage, AfterTheEnd) {
  f.open();
  const uint64_t end = f.place_of(f.content.size() - 1) / 4096 * 4096 + 4096;
  inject(SCUTE_INJURE_SCRIBBLE, end + 10, 500);
  EXPECT_EQ(f.check(true).lost, 0u);
  f.grow(f.content.size() + 10000);
  f.expect_content();
  f.expect_sound();
}

// The bytes that an injection reports as changed have changed in the files, and no others. That
// holds for any end of the file, and with room to grow after it. (INJECT-6, INJECT-7)
TEST_P(damage, WhatIsInjectedIsInTheFiles) {
  f.open();
  const auto files = [&] {
    bytes all = read_file(f.path), own = read_file(f.sidecar());
    all.insert(all.end(), own.begin(), own.end());
    return all;
  };
  const uint64_t segment = f.place_of(0);
  for (const auto kind : {SCUTE_INJURE_SCRIBBLE, SCUTE_INJURE_FLIP, SCUTE_INJURE_LOSE_PAGE})
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(std::to_string(kind) + " " + std::to_string(seed));
      scute_injection i;
      scute_injection_init(&i);
      i.kind = kind;
      i.region = SCUTE_REGION_OBJECT;
      i.bits = 64;
      i.length = 5000;
      i.seed = seed;
      if (kind != SCUTE_INJURE_LOSE_PAGE && seed == 8) {  // across the end, an odd one
        i.region = SCUTE_REGION_ANY;
        i.offset = f.place_of(f.content.size() - 1) - 1;
      }
      const bytes before = files();
      uint64_t reported = 0, changed = 0;
      SCUTE_OKAY(scute_inject(
          f.pool, &i, [](void* to, uint64_t, uint64_t n) { *static_cast<uint64_t*>(to) += n; },
          &reported, nullptr));
      const bytes now = files();
      ASSERT_EQ(now.size(), before.size());
      for (size_t b = 0; b < now.size(); ++b) changed += now[b] != before[b];
      EXPECT_GT(reported, 0u);
      if (kind != SCUTE_INJURE_LOSE_PAGE) {
        EXPECT_EQ(changed, reported);
      } else {  // a byte of noise in 256 is that of before; and the page is noted
        EXPECT_GT(changed, reported * 9 / 10);
      }
      expect_repaired();
    }
  // Of the bytes after the end of the file, those of its last page are nowhere, and those of
  // further pages are free.
  const auto region_of = [&](uint64_t offset) {
    scute_location l{};
    l.struct_size = sizeof l;
    SCUTE_OKAY_E(scute_locate(f.pool, offset, &l));
    return l.region;
  };
  const uint64_t end = segment + f.content.size();
  EXPECT_EQ(region_of(end - 1), SCUTE_REGION_OBJECT);
  EXPECT_EQ(region_of(end), SCUTE_REGION_FREE);
  EXPECT_EQ(region_of(round_up(end, 4096) + 10), SCUTE_REGION_FREE);
  EXPECT_EQ(region_of(segment - 10), SCUTE_REGION_FREE);  // headers of pages that the file may get
  scute_injection i;
  scute_injection_init(&i);
  i.offset = end;
  SCUTE_FAILS(SCUTE_E_RANGE, scute_inject(f.pool, &i, nullptr, nullptr, nullptr));
  const auto map = heap::map_regions(f.in().s, f.in().heap->zones());
  for (const heap::region_range& r : map) {
    EXPECT_EQ(region_of(r.offset), r.region) << r.offset;
    EXPECT_EQ(region_of(r.offset + r.length - 1), r.region) << r.offset;
  }
}

INSTANTIATE_TEST_SUITE_P(Media, damage,
                         ::testing::Values(std::pair(scratch::memory, SCUTE_ENGINE_LOGFREE),
                                           std::pair(scratch::memory, SCUTE_ENGINE_REDO),
                                           std::pair(scratch::disk, SCUTE_ENGINE_SPEC),
                                           std::pair(scratch::disk, SCUTE_ENGINE_LOGFREE)),
                         [](const auto& p) {
                           return std::string(p.param.second == SCUTE_ENGINE_REDO   ? "redo"
                                              : p.param.second == SCUTE_ENGINE_SPEC ? "spec"
                                                                                    : "logfree") +
                                  (p.param.first == scratch::disk ? "disk" : "memory");
                         });

}  // namespace
}  // namespace scute::test

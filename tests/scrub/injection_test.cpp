// SPDX-License-Identifier: BSD-3-Clause
// Damage on purpose: it hits the requested places, the same ones with the same seed, and nothing
// else.
#include "core/scrub/injection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "core/heap/regions.hpp"
#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

struct injury {
  uint64_t offset, length;
  bool operator==(const injury&) const = default;
};
using injuries = std::vector<injury>;

class injection : public testing::Test {
 protected:
  void SetUp() override {
    f.create(4 * mib);
    f.fill();
    // Chunks that are free again, besides those never used.
    const scute_oid large = f.add(200000);
    ASSERT_EQ(SCUTE_OK, f.free(large));
    f.objects.erase(large);
    SCUTE_OKAY(scute_drain(f));
    scute_injection_init(&what);
  }
  injuries inject() {
    injuries all;
    uint64_t done = 0;
    SCUTE_OKAY_E(scute_inject(
        f, &what,
        [](void* to, uint64_t offset, uint64_t length) {
          static_cast<injuries*>(to)->push_back({offset, length});
        },
        &all, &done));
    EXPECT_EQ(done, all.size());
    return all;
  }
  bytes content() {
    const auto* base = reinterpret_cast<const unsigned char*>(f.raw(0));
    return bytes(base, base + f.in().s.geo.file_size);
  }
  // The bits that differ from before.
  uint64_t changed_bits(const bytes& before) {
    const bytes now = content();
    uint64_t n = 0;
    for (size_t i = 0; i < now.size(); ++i)
      n += static_cast<uint64_t>(std::popcount(static_cast<unsigned>(now[i] ^ before[i])));
    return n;
  }
  int region_of(uint64_t offset) {
    scute_location l{};
    l.struct_size = sizeof l;
    SCUTE_OKAY_E(scute_locate(f, offset, &l));
    return l.region;
  }

  known_pool f;
  scute_injection what{};
};

TEST_F(injection, RegionsAreThoseOfLocate) {
  SCUTE_RANDOM(random);
  const auto map = heap::map_regions(f.in().s, f.in().heap->zones());
  uint64_t at = 0;
  std::set<int> seen;
  for (const heap::region_range& e : map) {
    ASSERT_EQ(e.offset, at);
    ASSERT_GT(e.length, 0u);
    EXPECT_EQ(e.offset % 32 + e.length % 32, 0u);
    for (const uint64_t inside : {uint64_t{0}, e.length - 1, random.between(0, e.length - 1),
                                  random.between(0, e.length - 1)})
      ASSERT_EQ(region_of(e.offset + inside), e.region) << e.offset << "+" << inside;
    seen.insert(e.region);
    at += e.length;
  }
  EXPECT_EQ(at, f.in().s.geo.file_size);
  EXPECT_GE(seen.size(), 9u);  // all but lent chunks, at least
}

// INJECT-1.
TEST_F(injection, TheSameSeedHitsTheSamePlaces) {
  what.count = 20;
  for (const auto kind : {SCUTE_INJURE_FLIP, SCUTE_INJURE_SCRIBBLE}) {
    what.kind = kind;
    what.seed = 5;
    const injuries first = inject();
    EXPECT_EQ(first.size(), 20u);
    const bytes before = content();
    EXPECT_EQ(inject(), first);
    for (const injury& i : first)  // INJECT-7
      EXPECT_NE(before[i.offset], content()[i.offset]);
    what.seed = 6;
    EXPECT_FALSE(inject() == first);
  }
  // A flip is undone by the same flip.
  const bytes before = content();
  what.kind = SCUTE_INJURE_FLIP;
  what.rate = 1e-5, what.count = 0;
  inject();
  EXPECT_GT(changed_bits(before), 0u);
  inject();
  EXPECT_EQ(changed_bits(before), 0u);
}

TEST_F(injection, EveryWidthInvertsAlignedWords) {
  for (const uint32_t bits : {1u, 8u, 16u, 32u, 64u}) {
    SCOPED_TRACE(bits);
    const bytes before = content();
    what.bits = bits;
    what.count = 50;
    what.seed = bits;
    const injuries all = inject();
    ASSERT_EQ(all.size(), 50u);
    for (const injury& i : all) {
      EXPECT_EQ(i.length, std::max(1u, bits / 8));
      EXPECT_EQ(i.offset % i.length, 0u);
    }
    EXPECT_EQ(changed_bits(before), 50u * bits);
    inject();
    EXPECT_EQ(changed_bits(before), 0u);
  }
}

TEST_F(injection, EveryRegionIsHitAndNoOther) {
  const std::set<int> regions = [&] {
    std::set<int> all;
    for (const auto& e : heap::map_regions(f.in().s, f.in().heap->zones())) all.insert(e.region);
    return all;
  }();
  for (const int region : regions) {
    SCOPED_TRACE(region);
    what.region = region;
    what.count = 30;
    what.kind = SCUTE_INJURE_FLIP;
    for (const injury& i : inject()) EXPECT_EQ(region_of(i.offset), region);
    inject();  // and back
    what.kind = SCUTE_INJURE_SCRIBBLE;
    what.count = 3;
    what.length = 32;
    bytes before = content();
    const injuries all = inject();
    EXPECT_GE(all.size(), 1u);
    for (const injury& i : all) {
      EXPECT_EQ(i.length, 32u);
      EXPECT_EQ(region_of(i.offset), region);
      EXPECT_EQ(region_of(i.offset + i.length - 1), region);
      EXPECT_NE(0, std::memcmp(&before[i.offset], f.raw(i.offset), i.length));
      std::memcpy(f.raw(i.offset), &before[i.offset], i.length);
    }
    EXPECT_EQ(changed_bits(before), 0u);
  }
}

// INJECT-3.
TEST_F(injection, ByRate) {
  const double bits = static_cast<double>(f.in().s.geo.file_size) * 8;
  for (const double rate : {1e-7, 1e-5, 1e-3}) {
    SCOPED_TRACE(rate);
    what.count = 0;
    what.rate = rate;
    const bytes before = content();
    const injuries all = inject();
    const double mean = bits * rate, wide = 6 * std::sqrt(mean) + 6;
    EXPECT_NEAR(static_cast<double>(all.size()), mean, wide);
    EXPECT_EQ(changed_bits(before), all.size());
    inject();
  }
  what.rate = 1;
  what.region = SCUTE_REGION_ZONE_HEADER;
  EXPECT_EQ(inject().size(), 4096u * 8);
  inject();
  what.rate = 0;
  EXPECT_EQ(inject().size(), 0u);
  f.expect_sound();
}

TEST_F(injection, ExactlyThere) {
  const bytes before = content();
  what.kind = SCUTE_INJURE_SCRIBBLE;
  what.offset = f.offset_of(f.root) + 3;
  what.length = 10;
  EXPECT_EQ(inject(), (injuries{{what.offset, 10}}));
  const bytes now = content();
  for (size_t i = 0; i < now.size(); ++i)
    if (i < what.offset || i >= what.offset + 10) {
      ASSERT_EQ(now[i], before[i]) << i;
    }
  f.expect_all_repaired();
}

TEST_F(injection, FewerPlacesThanAreAskedFor) {
  what.kind = SCUTE_INJURE_FLIP;
  what.region = SCUTE_REGION_SUPERBLOCK;
  what.bits = 64;
  what.count = 1000;
  EXPECT_EQ(inject().size(), 3u * 512 / 8);
}

TEST_F(injection, WhatMakesNoSenseIsRefused) {
  f.in().heap->clear_chunk_cache(f.in().s.lanes.front());  // so that no chunk is a log
  const bytes before = content();
  const uint64_t size = before.size();
  const auto refused = [&](int code, auto&& change) {
    scute_injection w;
    scute_injection_init(&w);
    change(w);
    SCUTE_FAILS(code, scute_inject(f, &w, nullptr, nullptr, nullptr));
  };
  refused(SCUTE_E_INVALID, [](auto& w) { w.struct_size = 0; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.kind = static_cast<scute_injury>(0); });
  refused(SCUTE_E_INVALID, [](auto& w) { w.kind = static_cast<scute_injury>(4); });
  refused(SCUTE_E_INVALID, [](auto& w) { w.region = -2; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.region = 10; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.bits = 3; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.bits = 0; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.count = 0, w.rate = 1.5; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.count = 0, w.rate = -1; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.count = 0, w.rate = NAN; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.kind = SCUTE_INJURE_SCRIBBLE, w.length = 0; });
  refused(SCUTE_E_INVALID, [](auto& w) { w.count = 2, w.offset = 0; });
  refused(SCUTE_E_RANGE, [&](auto& w) { w.kind = SCUTE_INJURE_SCRIBBLE, w.length = size + mib; });
  refused(SCUTE_E_RANGE, [&](auto& w) { w.offset = size; });
  refused(SCUTE_E_RANGE,
          [&](auto& w) { w.kind = SCUTE_INJURE_SCRIBBLE, w.offset = size - 10, w.length = 11; });
  if (f.info().engine != SCUTE_ENGINE_SPEC)  // which always has a log in chunks
    refused(SCUTE_E_NOENT, [](auto& w) { w.region = SCUTE_REGION_LOG; });
  SCUTE_FAILS(SCUTE_E_INVALID, scute_inject(f, nullptr, nullptr, nullptr, nullptr));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_inject(nullptr, &what, nullptr, nullptr, nullptr));
  EXPECT_EQ(changed_bits(before), 0u);
  f.reopen(SCUTE_READONLY);
  refused(SCUTE_E_READONLY, [](auto&) {});
}

// INJECT-4.
TEST_F(injection, WithoutParityNoPageOfTheZonesIsLost) {
  pool_file ml;
  ml.create(mib, SCUTE_PROTECT_ML);
  what.kind = SCUTE_INJURE_LOSE_PAGE;
  what.region = SCUTE_REGION_FREE;
  SCUTE_FAILS(SCUTE_E_UNSUPPORTED, scute_inject(ml, &what, nullptr, nullptr, nullptr));
  what.region = SCUTE_REGION_ANY;
  what.offset = ml.in().s.geo.zones_offset + 5000;
  SCUTE_FAILS(SCUTE_E_UNSUPPORTED, scute_inject(ml, &what, nullptr, nullptr, nullptr));
}

// Damage between the opening of a micro-buffer and its commit must not be sealed into the object.
// (SEAL-3)
TEST_F(injection, WhileAnObjectIsOpen) {
  for (const bool whole : {true, false}) {
    for (const bool same_byte : {true, false}) {
      SCOPED_TRACE(std::to_string(whole) + " " + std::to_string(same_byte));
      const scute_oid oid = f.add(1000);
      bytes& want = f.objects[oid];
      transaction tx(f);
      void* p = nullptr;
      if (whole) {
        SCUTE_OKAY(scute_tx_open(tx, oid, &p));
      } else {
        SCUTE_OKAY(scute_tx_add_range(tx, oid, 0, 300, &p));
      }
      what.bits = 8;
      what.offset = f.offset_of(oid) + 100;
      inject();
      const size_t at = same_byte ? 100 : 200;
      static_cast<unsigned char*>(p)[at] ^= 0x55;
      want[at] ^= 0x55;
      SCUTE_OKAY(tx.commit());
      EXPECT_TRUE(f.read(oid) == want);
      f.check(true);
      EXPECT_TRUE(f.read(oid) == want);
    }
  }
  f.expect_all_repaired();
}

class lost_pages : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override {
    f.create(4 * mib, GetParam());
    f.fill();
  }
  void lose(uint64_t offset) {
    scute_injection what;
    scute_injection_init(&what);
    what.kind = SCUTE_INJURE_LOSE_PAGE;
    what.offset = offset;
    SCUTE_OKAY(scute_inject(f, &what, nullptr, nullptr, nullptr));
  }
  known_pool f;
};

TEST_P(lost_pages, AreRebuiltWhenAThreadReads) {
  for (const auto& [oid, content] : f.objects) lose(f.offset_of(oid)), f.read(oid);
  f.expect_all_repaired();
}

// INJECT-4.
TEST_P(lost_pages, AreStillLostAfterClosing) {
  const scute_oid oid = f.add(9000);
  lose(f.offset_of(oid) + 4096);
  f.reopen();
  f.expect_all_repaired();
  lose(f.offset_of(oid) + 4096);
  f.in().abandon();  // as a crash does
  SCUTE_OKAY(scute_close(f.pool));
  f.pool = nullptr;
  f.open();
  f.expect_all_repaired();
}

// Two pages of a column, but one of them counts for zeros.
TEST_P(lost_pages, NextToOneInSpaceNeverUsed) {
  const auto& g = f.in().s.geo;
  const scute_oid oid = f.add(9000);
  const uint64_t page = (f.offset_of(oid) + 4095) / 4096 * 4096;
  const uint64_t unused = page + (g.rows - 1 - (page - g.zone_offset(0)) / g.row_size) * g.row_size;
  ASSERT_GE(unused, g.zone_offset(0) + f.in().s.used_end[0]);
  lose(unused);
  lose(page);
  f.expect_objects();
  f.expect_sound();
  lose(page);
  f.expect_all_repaired();
}

INSTANTIATE_TEST_SUITE_P(Protection, lost_pages,
                         testing::Values(pool_kind(SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE)),
                         protection_name);

// INJECT-2: ordinary stores to other bytes of a word whose bits are flipped meanwhile.
TEST_F(injection, FlipsLeaveStoresNextToThemAlone) {
  const uint64_t word = f.offset_of(f.root) / 8 * 8;
  std::atomic<bool> stop{false};
  std::thread flipper([&] {
    scute_injection w;
    scute_injection_init(&w);
    w.offset = word;
    while (!stop) scute_inject(f, &w, nullptr, nullptr, nullptr);
  });
  auto* beside = reinterpret_cast<volatile unsigned char*>(f.raw(word + 1));
  uint64_t lost = 0;
  for (unsigned i = 0; i < 2'000'000; ++i) {
    *beside = static_cast<unsigned char>(i);
    if (*beside != static_cast<unsigned char>(i)) ++lost;
  }
  stop = true;
  flipper.join();
  EXPECT_EQ(lost, 0u);
}

}  // namespace
}  // namespace scute::test

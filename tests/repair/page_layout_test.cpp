// SPDX-License-Identifier: BSD-3-Clause
// Which fragments have bytes in a page: compared, page by page, with what the heap's own tables
// say.
#include "core/repair/page_layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/damage.hpp"

namespace scute::test {
using namespace core;
namespace {

// Fragments by the offset of their headers, for each page that they have a byte in.
using layout = std::map<uint64_t, std::set<uint64_t>>;

void add(layout& l, uint64_t header, uint64_t from, uint64_t n) {
  for (uint64_t page = from & ~(format::page - 1); page < from + n; page += format::page)
    l[page].insert(header);
}

layout expected(known_pool& f) {
  layout all;
  for (const auto& [oid, content] : f.objects) {
    const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
    for (uint64_t i = 0; i * format::fragment_payload < content.size(); ++i) {
      const pool::fragment g = o.fragment(i);
      add(all, g.header, g.header, format::header_size);
      add(all, g.header, g.payload, g.room);
    }
  }
  return all;
}

class page_layout : public testing::Test {
 protected:
  page_layout() {
    f.create(4 * mib);
    f.fill();
    for (const size_t n : {20000, 4097, 12300, 8193, 65536}) f.add(n);
  }
  known_pool f;
};

TEST_F(page_layout, EveryPageOfEveryObject) {
  const auto want = expected(f);
  std::map<uint64_t, scute_oid> object_of;
  for (const auto& [oid, content] : f.objects) {
    const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
    for (uint64_t i = 0; i * format::fragment_payload < content.size(); ++i)
      object_of[o.fragment(i).header] = oid;
  }
  ASSERT_GT(want.size(), 40u);
  for (const auto& [page, headers] : want) {
    std::set<uint64_t> seen;
    std::vector<uint64_t> order;
    repair::for_each_fragment(f.in().s, page, [&](const repair::fragment_in_page& p) {
      if (p.fragment.metadata || p.object == 0) return;  // structures, free slots
      EXPECT_TRUE(seen.insert(p.fragment.header).second)
          << p.fragment.header << " twice in page " << page;
      EXPECT_EQ(p.object, object_of[p.fragment.header]);
      EXPECT_TRUE(pool::valid(f.in().s, p.fragment));
    });
    EXPECT_EQ(seen, headers) << "page " << page;
    if (HasFailure()) return;
  }
}

// A page may begin in the middle of the last fragment and hold no header at all.
TEST_F(page_layout, OnlyTheTailOfTheLastFragment) {
  size_t tails = 0;
  for (const auto& [oid, content] : f.objects) {
    if (content.size() <= format::fragment_payload) continue;
    const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
    const uint64_t last = (content.size() - 1) / format::fragment_payload;
    const uint64_t page = (f.offset_of(oid) + content.size() - 1) & ~(format::page - 1);
    if (page <= o.fragment(last).payload) continue;
    ++tails;
    bool found = false;
    repair::for_each_fragment(f.in().s, page, [&](const repair::fragment_in_page& p) {
      if (p.fragment.header != o.fragment(last).header) return;
      found = true;
      EXPECT_EQ(p.fragment.index, last);
      EXPECT_EQ(p.fragment.payload, o.fragment(last).payload);
      EXPECT_EQ(p.object, oid);
    });
    EXPECT_TRUE(found) << content.size();
  }
  EXPECT_GT(tails, 2u);
}

TEST_F(page_layout, StructuresOfAZone) {
  const auto& g = f.in().s.geo;
  std::set<uint64_t> seen;
  for (uint64_t page = g.zone_offset(0); page < g.zone_offset(0) + g.chunk_base;
       page += format::page)
    repair::for_each_fragment(f.in().s, page, [&](const repair::fragment_in_page& p) {
      EXPECT_TRUE(p.fragment.metadata);
      EXPECT_TRUE(pool::valid(f.in().s, p.fragment));
      EXPECT_TRUE(seen.insert(p.fragment.header).second);
    });
  std::set<uint64_t> want{g.zone_offset(0), g.zone_offset(0) + format::zone_anchor_offset};
  format::zone_descriptor d;
  std::memcpy(&d, f.raw(g.zone_offset(0)), sizeof d);
  ASSERT_GT(d.high_water, 3u);
  for (uint32_t i = 0; i < d.high_water; ++i) want.insert(g.chunk_header_offset(0, i));
  EXPECT_EQ(seen, want);
}

// LAYOUT-1: the places stay when the object has gone; only no object claims them any more.
TEST_F(page_layout, PlacesOfObjectsThatWereFreed) {
  std::vector<pool::fragment> parts;
  std::vector<scute_oid> gone;
  for (const auto& [oid, content] : f.objects) {
    if (content.size() <= format::fragment_payload) continue;
    gone.push_back(oid);
    const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
    for (uint64_t i = 1; i * format::fragment_payload < content.size(); ++i)
      parts.push_back(o.fragment(i));
  }
  ASSERT_GT(parts.size(), 20u);
  const auto verify = [&](bool live) {
    for (const pool::fragment& part : parts) {
      pool::fragment found;
      ASSERT_TRUE(repair::place_at(f.in().s, part.header, found)) << part.header;
      EXPECT_EQ(found.payload, part.payload);
      EXPECT_EQ(found.room, part.room);
      EXPECT_EQ(found.index, part.index);
      EXPECT_EQ(repair::first_of(found).index, 0u);
      EXPECT_TRUE(pool::valid(f.in().s, found));
      EXPECT_FALSE(repair::place_at(f.in().s, part.header + 8, found));
      bool claimed = false;
      repair::for_each_place(f.in().s, part.header & ~(format::page - 1),
                             [&](const repair::fragment_in_page& p) {
                               if (p.fragment.header == part.header) claimed = p.claimed;
                             });
      EXPECT_EQ(claimed, live);
      bool listed = false;
      repair::for_each_fragment(f.in().s, part.header & ~(format::page - 1),
                                [&](const repair::fragment_in_page& p) {
                                  listed = listed || p.fragment.header == part.header;
                                });
      EXPECT_EQ(listed, live);
    }
  };
  verify(true);
  for (const scute_oid oid : gone) EXPECT_EQ(SCUTE_OK, f.free(oid));
  verify(false);
}

// LAYOUT-3: a chunk that was part of a span and has another use since.
TEST_F(page_layout, NoPlaceOfAFreedSpanInAChunkOfAnotherUse) {
  const uint64_t chunk = f.in().s.geo.chunk_size;
  const scute_oid large = f.alloc(pattern(1, 5 * chunk));
  const heap::object o = f.in().heap->zones().locate(f.offset_of(large));
  std::vector<pool::fragment> parts;
  for (uint64_t i = 1; i * format::fragment_payload < 5 * chunk; ++i)
    parts.push_back(o.fragment(i));
  ASSERT_EQ(SCUTE_OK, f.free(large));
  // As if one of its bodies had another use; the head is still there.
  const auto& g = f.in().s.geo;
  const uint64_t taken =
      g.chunk_offset(0, 0) + (o.header - g.chunk_offset(0, 0)) / chunk * chunk + 2 * chunk;
  format::chunk_header h{};
  std::memcpy(&h, f.raw(g.chunk_header_offset(0, (taken - g.chunk_offset(0, 0)) / chunk)),
              sizeof h);
  ASSERT_EQ(h.kind, static_cast<uint8_t>(format::chunk_kind::span_body));
  h.kind = static_cast<uint8_t>(format::chunk_kind::free);
  h.length = 0;
  auto& l = f.in().s.lanes.front();
  const auto index = static_cast<uint32_t>((taken - g.chunk_offset(0, 0)) / chunk);
  pool::seal_metadata(f.in().s, l, g.chunk_header_offset(0, index), format::type_chunk, h);
  std::memcpy(f.raw(g.chunk_header_offset(0, index)), &h, sizeof h);
  size_t there = 0, missing = 0;
  for (const pool::fragment& part : parts) {
    const bool meets = part.payload < taken + chunk && part.payload + part.room > taken;
    pool::fragment found;
    EXPECT_EQ(repair::place_at(f.in().s, part.header, found), !meets) << part.index;
    ++(meets ? missing : there);
  }
  EXPECT_GT(there, 0u);
  EXPECT_GT(missing, 0u);
}

}  // namespace
}  // namespace scute::test

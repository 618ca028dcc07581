// SPDX-License-Identifier: BSD-3-Clause
// Which fragments have bytes in a page: compared, page by page, with what the heap's own tables say.
#include "heal/page_layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heal/damage.hpp"

namespace scute::test {
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
    heal::for_each_fragment(f.in().s, page, [&](const heal::fragment_in_page& p) {
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
    heal::for_each_fragment(f.in().s, page, [&](const heal::fragment_in_page& p) {
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
    heal::for_each_fragment(f.in().s, page, [&](const heal::fragment_in_page& p) {
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

}  // namespace
}  // namespace scute::test

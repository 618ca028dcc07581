// SPDX-License-Identifier: BSD-3-Clause
// Enumeration, locations, chunks, errors: the parts of the C interface that tools look through.
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>
#include <thread>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

TEST(enumeration, ByTypeAndInAddressOrder) {
  pool_file f;
  f.create(4 * mib);
  scute_oid oid = 1;
  SCUTE_OKAY(scute_first(f, SCUTE_TYPE_ANY, &oid));
  EXPECT_EQ(oid, 0u);
  std::map<uint32_t, std::set<scute_oid>> by_type;
  for (uint32_t i = 0; i < 200; ++i) {
    const uint32_t type = i % 3 == 0 ? 0 : i % 3 == 1 ? 5 : 0xfffffeff;
    const scute_oid made = f.alloc(bytes(i % 50 == 0 ? 50000 : 10 + i * 7), type);
    ASSERT_NE(made, 0u);
    by_type[type].insert(made);
    by_type[SCUTE_TYPE_ANY].insert(made);
  }
  for (const bool again : {false, true}) {
    if (again) f.reopen();
    for (const auto& [type, want] : by_type) {
      std::vector<scute_oid> seen;
      SCUTE_OKAY(scute_first(f, type, &oid));
      while (oid != 0) {
        seen.push_back(oid);
        SCUTE_OKAY(scute_next(f, oid, type, &oid));
      }
      EXPECT_TRUE(seen == std::vector<scute_oid>(want.begin(), want.end())) << type;
    }
    SCUTE_OKAY(scute_first(f, 4, &oid));
    EXPECT_EQ(oid, 0u);
  }
  SCUTE_FAILS(SCUTE_E_OID, scute_next(f, 0, 5, &oid));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_first(f, 5, nullptr));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_first(nullptr, 5, &oid));
}

TEST(location, OfEveryByteIsConsistent) {
  pool_file f;
  scute_options o = options(40 * mib);
  f.create(o);
  std::map<uint64_t, scute_oid> objects;  // by payload offset
  for (const uint64_t n : {10, 100, 5000, 300000})
    for (int k = 0; k < 5; ++k) {
      const scute_oid oid = f.alloc(bytes(n));
      objects[f.offset_of(oid)] = oid;
    }
  const auto& g = f.in().s.geo;
  SCUTE_RANDOM(random);
  scute_location at{};
  at.struct_size = sizeof at;
  std::set<int> regions;
  const auto look = [&](uint64_t offset) {
    SCOPED_TRACE(offset);
    SCUTE_OKAY(scute_locate(f, offset, &at));
    regions.insert(at.region);
    if (offset >= g.zones_offset && offset < g.zones_end()) {
      uint64_t back = 0;
      SCUTE_OKAY(scute_offset_of(f, at.zone, at.row, at.column, &back));
      EXPECT_EQ(back, offset);
      EXPECT_EQ(at.region == SCUTE_REGION_PARITY, at.row >= g.rows);
    } else {
      EXPECT_TRUE(at.region == SCUTE_REGION_SUPERBLOCK || at.region == SCUTE_REGION_LANE ||
                  at.region == SCUTE_REGION_PADDING || at.region == SCUTE_REGION_NOTES);
    }
  };
  for (int i = 0; i < 20000; ++i) look(random.between(0, g.file_size - 1));
  for (const auto& [payload, oid] : objects) {
    look(payload);
    EXPECT_EQ(at.object, oid);
    look(payload - 1);  // its header
    EXPECT_EQ(at.object, oid);
  }
  for (const uint64_t x :
       {uint64_t{0}, uint64_t{511}, uint64_t{512}, uint64_t{4096}, g.lanes_offset,
        g.zones_offset - 1, g.zones_offset, g.zones_offset + 64, g.zones_offset + 4096,
        g.zones_end() - 1, g.zones_end(), g.superblock_offset(2), g.file_size - 1})
    look(x);
  for (const int r : {SCUTE_REGION_SUPERBLOCK, SCUTE_REGION_LANE, SCUTE_REGION_ZONE_HEADER,
                      SCUTE_REGION_CHUNK_HEADER, SCUTE_REGION_OBJECT, SCUTE_REGION_FREE,
                      SCUTE_REGION_PARITY, SCUTE_REGION_PADDING, SCUTE_REGION_NOTES})
    EXPECT_EQ(regions.count(r), 1u) << r;
  SCUTE_FAILS(SCUTE_E_RANGE, scute_locate(f, g.file_size, &at));
  uint64_t x = 0;
  SCUTE_FAILS(SCUTE_E_RANGE, scute_offset_of(f, 1, 0, 0, &x));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_offset_of(f, 0, g.rows + 1, 0, &x));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_offset_of(f, 0, 0, g.row_size, &x));
}

TEST(chunks, VisitCanStopAndMayNotNest) {
  pool_file f;
  f.create();
  f.alloc(bytes(100));
  f.alloc(bytes(50000));
  std::vector<std::string> kinds;
  EXPECT_EQ(0, scute_visit_chunks(
                   f,
                   [](void* arg, const scute_chunk_info* c) {
                     static_cast<std::vector<std::string>*>(arg)->push_back(c->kind);
                     EXPECT_LE(c->used, c->formatted);
                     EXPECT_LE(c->formatted, c->slots);
                     return 0;
                   },
                   &kinds));
  std::erase(kinds, "log");  // engine spec has some permanently
  EXPECT_GE(kinds.size(), 3u);
  EXPECT_EQ(kinds[0], "run");
  EXPECT_EQ(kinds[1], "span");
  EXPECT_EQ(kinds[2], "span-body");
  EXPECT_EQ(42, scute_visit_chunks(f, [](void*, const scute_chunk_info*) { return 42; }, nullptr));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_visit_chunks(f, nullptr, nullptr));
  transaction tx(f);
  SCUTE_FAILS(SCUTE_E_INVALID,
              scute_visit_chunks(f, [](void*, const scute_chunk_info*) { return 0; }, nullptr));
}

TEST(errors, HaveNamesAndMessagesPerThread) {
  std::set<std::string> names;
  for (int code = SCUTE_OK; code >= SCUTE_E_INTERNAL; --code) names.insert(scute_errorname(code));
  EXPECT_EQ(names.size(), 24u);
  EXPECT_EQ(names.count("SCUTE_E_UNKNOWN"), 0u);
  EXPECT_STREQ(scute_errorname(7), "SCUTE_E_UNKNOWN");
  scute_pool* p = nullptr;
  errno = 0;
  EXPECT_EQ(SCUTE_E_NOENT, scute_open("/nowhere/at/all", nullptr, &p));
  EXPECT_EQ(p, nullptr);
  const std::string mine = scute_errormsg();
  EXPECT_NE(mine.find("/nowhere/at/all"), std::string::npos);
  std::thread([&] {
    EXPECT_STREQ(scute_errormsg(), "");
    EXPECT_EQ(SCUTE_E_INVALID, scute_open(nullptr, nullptr, &p));
  }).join();
  EXPECT_EQ(mine, scute_errormsg());
}

TEST(structs, SizesOfOtherVersions) {
  pool_file f;
  f.create();
  scute_info i{};
  SCUTE_FAILS(SCUTE_E_INVALID, scute_pool_info(f, &i));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_pool_info(f, nullptr));
  std::memset(&i, 0xee, sizeof i);
  i.struct_size = 8 + 16;  // an older program knows the uuid only
  SCUTE_OKAY(scute_pool_info(f, &i));
  EXPECT_EQ(static_cast<unsigned char>(i.layout[0]), 0xeeu);
  EXPECT_EQ(i.struct_size, 24u);
  struct {
    scute_info info;
    char more[64];
  } newer{};
  newer.info.struct_size = sizeof newer;
  SCUTE_OKAY(scute_pool_info(f, &newer.info));
  EXPECT_EQ(newer.info.size, f.info().size);
  scute_report r{};
  SCUTE_FAILS(SCUTE_E_INVALID, scute_check(f, 0, &r, nullptr, nullptr, nullptr));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_check(f, 0, nullptr, nullptr, nullptr, nullptr));
}

TEST(options_by_name, TextAndEnvironment) {
  scute_options o;
  scute_options_init(&o);
  for (const auto& [name, value] : {std::pair{"size", "16GiB"},
                                    {"protection", "ml"},
                                    {"checksum", "adler32"},
                                    {"rows", "12"},
                                    {"lanes", "3"},
                                    {"chunk_size", "64K"},
                                    {"mode", "0644"},
                                    {"preallocate", "1"},
                                    {"no-fault-handler", "true"},
                                    {"no_fault_handler", "false"},
                                    {"engine", "redo"},
                                    {"medium", "ram"}})
    EXPECT_EQ(SCUTE_OK, scute_options_set(&o, name, value)) << name << ": " << scute_errormsg();
  EXPECT_EQ(o.size, 16 * gib);
  EXPECT_EQ(o.protection, SCUTE_PROTECT_ML);
  EXPECT_EQ(o.checksum, SCUTE_CHECKSUM_ADLER32);
  EXPECT_EQ(o.rows, 12u);
  EXPECT_EQ(o.chunk_size, 65536u);
  EXPECT_EQ(o.mode, 0644u);
  EXPECT_EQ(o.flags, uint32_t{SCUTE_PREALLOCATE});
  const scute_options kept = o;
  for (const auto& [name, value] : {std::pair{"size", "huge"},
                                    {"size", ""},
                                    {"size", "-1"},
                                    {"size", "1.5G"},
                                    {"size", "99999999999999999999"},
                                    {"size", "99999999T"},
                                    {"rows", "x"},
                                    {"rows", "5000000000"},
                                    {"mode", "999"},
                                    {"mode", ""},
                                    {"protection", "MLPC "},
                                    {"readonly", "maybe"},
                                    {"colour", "red"},
                                    {"chunk-size", "many"},
                                    {"lazy-recovery", "2"},
                                    {"policy", "scrub:0"},
                                    {"", "1"}})
    EXPECT_EQ(SCUTE_E_INVALID, scute_options_set(&o, name, value)) << name << "=" << value;
  EXPECT_EQ(0, std::memcmp(&o, &kept, sizeof o)) << "a refused value changes nothing";
  ::setenv("SCUTE_ROWS", "9", 1);
  EXPECT_EQ(SCUTE_OK, scute_options_from_env(&o));
  EXPECT_EQ(o.rows, 9u);
  ::setenv("SCUTE_NO_FAULT_HANDLER", "1", 1);
  EXPECT_EQ(SCUTE_OK, scute_options_from_env(&o));
  EXPECT_EQ(o.flags, uint32_t{SCUTE_PREALLOCATE} | uint32_t{SCUTE_NO_FAULT_HANDLER});
  ::unsetenv("SCUTE_NO_FAULT_HANDLER");
  ::setenv("SCUTE_ROWS", "nine", 1);
  EXPECT_EQ(SCUTE_E_INVALID, scute_options_from_env(&o));
  ::unsetenv("SCUTE_ROWS");
}

}  // namespace
}  // namespace scute::test

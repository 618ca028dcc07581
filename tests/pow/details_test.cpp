// SPDX-License-Identifier: BSD-3-Clause
// The numbers in reports of damage.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "files.hpp"
#include "support/scratch.hpp"

namespace scute::pow {
namespace {

class Details : public test::pow_files {
 protected:
  struct reported {
    std::string what, table;
    bool lost;
    uint32_t segment, lane;
    uint64_t session, first_section, last_section, first, last, records;
    size_t ranges;
  };
  static void remember(void* arg, const scute_pow_damage* d) {
    EXPECT_EQ(d->struct_size, sizeof *d);
    reported t{d->what,
               "",
               d->lost != 0,
               d->segment,
               d->lane,
               d->session,
               d->first_section,
               d->last_section,
               0,
               0,
               0,
               d->range_count};
    if (d->range_count != 0) {
      EXPECT_EQ(d->ranges->struct_size, sizeof *d->ranges);
      t.table = d->ranges->table;
      t.first = d->ranges->first;
      t.last = d->ranges->last;
      t.records = d->ranges->records;
    }
    static_cast<std::vector<reported>*>(arg)->push_back(t);
  }
};
INSTANTIATE_TEST_SUITE_P(, Details, test::memory_and_disk(), test::name_of_place);

TEST_P(Details, OfWhatAnOpeningAndACheckFind) {
  options o = small();
  o.protection = static_cast<scute_pow_protection>(SCUTE_POW_NONE);
  {
    store db(path, o);
    table<uint64_t> numbers(db, "numbers");
    map<std::string, std::string> words(db, "words");
    for (uint64_t i = 0; i < 5; ++i) {
      auto s = db.section(m);
      for (char c = 'a'; c < 'd'; ++c)
        words.edit(std::to_string(i) + c) = std::string(100, static_cast<char>('A' + i));
      s.commit();
    }
    // As it is written, and open.
    std::vector<reported> all;
    EXPECT_EQ(db.check_details(0, [&](const scute_pow_damage& d) { remember(&all, &d); }), 0U);
    EXPECT_TRUE(all.empty());
  }
  auto bytes = test::read_file(path);
  const std::string third(100, 'C');
  const auto at = std::search(bytes.begin(), bytes.end(), third.begin(), third.end());
  ASSERT_NE(at, bytes.end());
  const uint64_t segment = (static_cast<uint64_t>(at - bytes.begin()) - 16384) / o.segment_size;
  *at = 'x';
  test::write_file(path, bytes);
  std::vector<reported> all;
  o.flags |= SCUTE_POW_SALVAGE | SCUTE_POW_READONLY;
  o.details = &remember;
  o.details_arg = &all;
  store db(path, o);
  ASSERT_EQ(all.size(), 1U);
  const reported& t = all[0];
  EXPECT_TRUE(t.lost);
  EXPECT_EQ(t.segment, segment);
  EXPECT_EQ(t.lane, 1U);
  EXPECT_EQ(t.session, 1U);
  // Two for the tables, and the third one.
  EXPECT_EQ(t.first_section, 5U);
  EXPECT_EQ(t.last_section, 5U);
  EXPECT_EQ(t.ranges, 1U);
  EXPECT_EQ(t.table, "words");
  EXPECT_EQ(t.first, 6U);
  EXPECT_EQ(t.last, 8U);
  EXPECT_EQ(t.records, 3U);
  EXPECT_NE(t.what.find("objects 6 to 8 of table words"), std::string::npos) << t.what;
}

TEST_P(Details, OfWhatWasChangedOutsideOfSections) {
  store db(path, small());
  vector<uint64_t> v(db, "v");
  {
    auto s = db.section(m);
    for (uint64_t i = 0; i < 9; ++i) v.push_back(i);
    s.commit();
  }
  const_cast<uint64_t&>(v[7]) = 8;
  std::vector<reported> all;
  EXPECT_EQ(
      db.check_details(SCUTE_POW_COMPARE, [&](const scute_pow_damage& d) { remember(&all, &d); }),
      1U);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].table, "v");
  EXPECT_EQ(all[0].first, 7U);
  EXPECT_EQ(all[0].last, 7U);
  EXPECT_EQ(all[0].session, 1U);
}

}  // namespace
}  // namespace scute::pow

// SPDX-License-Identifier: BSD-3-Clause
// Files as a whole: opened read-only, compacted.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "files.hpp"

namespace scute::pow {
namespace {

class Files : public test::pow_files {};

INSTANTIATE_TEST_SUITE_P(, Files, test::memory_and_disk(), test::name_of_place);

TEST_P(Files, ReadOnly) {
  std::string before;
  {
    store db(path, small());
    map<std::string, std::string> words(db, "words");
    auto s = db.section(m);
    words.edit("a") = "1";
    s.commit();
  }
  const auto bytes = test::read_file(path);
  options o = small();
  o.flags = SCUTE_POW_READONLY;
  {
    store one(path, o), two(path, o);
    map<std::string, std::string> words(one, "words"), same(two, "words");
    EXPECT_EQ(words.at("a"), "1");
    EXPECT_EQ(same.at("a"), "1");
    EXPECT_EQ(code_of([&] { static_cast<void>(one.section(m)); }), errc::readonly);
    EXPECT_EQ(code_of([&] { one.clean(); }), errc::readonly);
    EXPECT_EQ(code_of([&] { one.compact(); }), errc::readonly);
    EXPECT_EQ(code_of([&] { one.check(SCUTE_POW_REPAIR); }), errc::readonly);
    EXPECT_EQ(code_of([&] { map<int, int> none(one, "none"); }), errc::readonly);
    EXPECT_EQ(code_of([&] { store writes(path, small()); }), errc::busy);
    EXPECT_EQ(one.check(), 0U);
    one.sync();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }
  EXPECT_EQ(test::read_file(path), bytes);
}

TEST_P(Files, CompactFilesAreAsSmallAsTheyCanBe) {
  options o = small();
  o.max_size = 32 << 20;
  {
    store db(path, o);
    map<uint64_t, std::string> all(db, "all");
    for (uint64_t i = 0; i < 400; ++i) {
      auto s = db.section(m);
      all.edit(i) = std::string(20000, static_cast<char>('a' + i % 26));
      s.commit();
    }
    for (uint64_t i = 0; i < 390; ++i) {
      auto s = db.section(m);
      all.erase(i);
      s.commit();
    }
    const uint64_t large = db.info().file_size;
    EXPECT_GT(large, 8U << 20);
    db.compact();
    EXPECT_LT(db.info().file_size, 1U << 20);
    EXPECT_EQ(test::read_file(path).size(), db.info().file_size);
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    // And it grows again.
    for (uint64_t i = 0; i < 200; ++i) {
      auto s = db.section(m);
      all.edit(i) = std::string(20000, static_cast<char>('A' + i % 26));
      s.commit();
    }
    EXPECT_GT(db.info().file_size, 4U << 20);
  }
  store db(path, o);
  map<uint64_t, std::string> all(db, "all");
  EXPECT_EQ(all.size(), 210U);
  EXPECT_EQ(all.at(395), std::string(20000, static_cast<char>('a' + 395 % 26)));
  EXPECT_EQ(all.at(7), std::string(20000, 'H'));
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

// A file is opened only if it has what each option asks for; defaults ask for nothing.
TEST_P(Files, OptionsThatAFileHasNot) {
  options o = small();
  o.protection = SCUTE_POW_NONE;
  {
    store db(path, o);
  }
  const auto opened = [&](auto&& change) {
    options other = o;
    change(other);
    return code_of([&] { store db(path, other); });
  };
  for (const uint32_t flags : {0U, static_cast<uint32_t>(SCUTE_POW_READONLY)}) {
    EXPECT_EQ(opened([&](options& x) { x.protection = SCUTE_POW_ALWAYS, x.flags |= flags; }),
              errc::invalid);
    EXPECT_NE(std::string(scute_errormsg()).find("has protection none"), std::string::npos);
    EXPECT_EQ(opened([&](options& x) { x.protection = SCUTE_POW_SEALED, x.flags |= flags; }),
              errc::invalid);
    EXPECT_EQ(opened([&](options& x) { x.segment_size *= 2, x.flags |= flags; }), errc::invalid);
    EXPECT_EQ(opened([&](options& x) { x.flags |= flags; }), errc{});
    EXPECT_EQ(opened([&](options& x) { x = options{}, x.flags |= flags; }), errc{});
  }
  EXPECT_EQ(opened([](options& x) { x.size = x.max_size = 512 << 10; }), errc::invalid);
  options defaults;
  store db(path, defaults);
  EXPECT_EQ(db.info().protection, SCUTE_POW_NONE);
  EXPECT_EQ(db.info().segment_size, o.segment_size);
}

}  // namespace
}  // namespace scute::pow

// SPDX-License-Identifier: BSD-3-Clause
// All short histories of one object in a section that is written while it runs.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "files.hpp"

namespace scute::pow {
namespace {

class Histories : public test::pow_files {};

INSTANTIATE_TEST_SUITE_P(, Histories, test::memory_and_disk(), test::name_of_place);

// In base 4, lowest first: push, pop, edit, stream.
constexpr unsigned length = 4, histories = 256;

std::string name_of(bool filled, unsigned history) {
  return (filled ? "filled " : "empty ") + std::to_string(history);
}

void play(section& s, vector<uint32_t>& v, std::vector<uint32_t>& expected, unsigned history) {
  for (uint32_t i = 1; i <= length; ++i, history /= 4) {
    if (history % 4 == 0) {
      v.push_back(i);
      expected.push_back(i);
    } else if (history % 4 == 3) {
      s.stream();
    } else if (!expected.empty()) {
      if (history % 4 == 1) {
        v.pop_back();
        expected.pop_back();
      } else {
        v.edit(expected.size() - 1) = 10 * i;
        expected.back() = 10 * i;
      }
    }
  }
}

// POW-10: what the program saw at the commit is what the next opening finds.
TEST_P(Histories, OfOneIndexAreFoundAsTheyEnded) {
  std::vector<std::vector<uint32_t>> expected(2 * histories);
  {
    store db(path, small());
    for (const bool filled : {false, true})
      for (unsigned h = 0; h < histories; ++h) {
        vector<uint32_t> v(db, name_of(filled, h));
        auto& should = expected[filled * histories + h];
        if (filled) {
          auto s = db.section(m);
          v.push_back(7);
          should.push_back(7);
          s.commit();
        }
        auto s = db.section(m);
        play(s, v, should, h);
        s.commit();
      }
    db.close();
  }
  store db(path, small());
  for (const bool filled : {false, true})
    for (unsigned h = 0; h < histories; ++h) {
      const vector<uint32_t> v(db, name_of(filled, h));
      const auto& should = expected[filled * histories + h];
      ASSERT_EQ(v.size(), should.size()) << name_of(filled, h);
      for (size_t i = 0; i < should.size(); ++i) EXPECT_EQ(v[i], should[i]) << name_of(filled, h);
    }
  EXPECT_EQ(db.check(), 0U);
}

}  // namespace
}  // namespace scute::pow

// SPDX-License-Identifier: BSD-3-Clause
// POW-4: a file that is full to the last segment can be emptied, in whatever order, and filled
//        again.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "plain_medium.hpp"
#include "pow/store.hpp"
#include "store_fixture.hpp"

namespace scute::core::pow {
namespace {

enum class order { as_made, backwards, scattered };

class FullFile : public ::testing::TestWithParam<std::tuple<protection, order, unsigned>> {
 protected:
  FullFile() {
    const auto [protect, in, size] = GetParam();
    shape how;
    how.protect = protect;
    how.segment_size = protect == protection::always ? 9 * head_page : 4 * head_page;
    how.segments = segments_least;
    memory_.resize(first_segment + 60 * how.segment_size + head_page);
    void* at = memory_.data();
    size_t room = memory_.size();
    std::align(head_page, room - head_page, at, room);
    options_.limit.max_size = memory_.size() - head_page;
    file_ = std::span(static_cast<std::byte*>(at), options_.limit.max_size);
    db = store::create(std::make_unique<plain_medium>(file_), "plain", how, options_);
    c.t = &db->attach("cells", 7, 0, true, c);
  }
  void reopen() {
    db->close();
    db.reset();
    c = cells();
    db = store::open(std::make_unique<plain_medium>(file_), "plain", file_.size(), options_);
    c.t = &db->attach("cells", 7, 0, true, c);
  }
  uint64_t fill() {
    uint64_t n = 0;
    try {
      for (;; ++n) {
        section s(db->parts(), durability::strict);
        c.put(s, n, std::string(std::get<2>(GetParam()), static_cast<char>('a' + n % 26)));
        s.commit();
      }
    } catch (const failure& f) {
      EXPECT_EQ(f.code(), SCUTE_E_NOSPC);
    }
    return n;
  }

  void expect_it_can_be_emptied(uint64_t n) {
    std::vector<uint64_t> all(n);
    for (uint64_t i = 0; i < n; ++i) all[i] = i;
    const order in = std::get<1>(GetParam());
    std::mt19937_64 random(3);
    if (in == order::backwards) std::reverse(all.begin(), all.end());
    if (in == order::scattered) std::shuffle(all.begin(), all.end(), random);
    for (uint64_t i = 0; i < n; ++i) try {
        section s(db->parts(), durability::strict);
        c.erase(s, all[i]);
        s.commit();
      } catch (const failure& f) {
        FAIL() << "erase " << i << " of " << n << ": " << f.what();
      }
    EXPECT_TRUE(c.texts.empty());
    EXPECT_TRUE(db->check(false, true).damage.empty());
    EXPECT_GT(fill(), n * 3 / 4);
  }

  std::vector<std::byte> memory_;
  std::span<std::byte> file_;
  store_options options_;
  std::unique_ptr<store> db;
  cells c;
};
INSTANTIATE_TEST_SUITE_P(
    , FullFile,
    ::testing::Combine(::testing::Values(protection::none, protection::sealed, protection::always),
                       ::testing::Values(order::as_made, order::backwards, order::scattered),
                       ::testing::Values(40U, 150U, 2000U)));

TEST_P(FullFile, CanBeEmptied) {
  const uint64_t n = fill();
  ASSERT_GT(n, 100U);
  expect_it_can_be_emptied(n);
}

// In another session, the cleaner's knowledge of its copies is gone.
TEST_P(FullFile, CanBeEmptiedInAnotherSession) {
  const uint64_t n = fill();
  ASSERT_GT(n, 100U);
  reopen();
  ASSERT_EQ(c.texts.size(), n);
  expect_it_can_be_emptied(n);
}

}  // namespace
}  // namespace scute::core::pow

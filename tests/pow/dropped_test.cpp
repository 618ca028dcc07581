// SPDX-License-Identifier: BSD-3-Clause
// POW-8: batches that recovery has dropped, in a segment that has to stay.
#include "store_fixture.hpp"

namespace scute::core::pow {
namespace {

class Dropped : public Store {
 protected:
  void put_later(uint64_t first, uint64_t count, size_t n, char x) {
    section s(db->parts(), durability::later);
    for (uint64_t i = first; i < first + count; ++i) c->put(s, i, std::string(n, x));
    s.commit();
  }
  std::byte* find(size_t n, char x) {
    const std::string text(n, x);
    return &*std::search(bytes.begin(), bytes.end(), text.begin(), text.end(),
                         [](std::byte b, char y) { return b == std::byte(y); });
  }
  // Opens the file. When the cleaner comes to one segment, it cannot find the segment's live
  // record: the damage strikes before the `takes`th read from the end.
  void reopen_with_a_damaged_victim(std::byte* spoilt, uint64_t takes) {
    db.reset();
    const std::vector<std::byte> before(bytes.begin(), bytes.end());
    uint64_t reads = 0, all = 0;
    plain_medium::before_read = [&] { ++all; };
    reopen();
    plain_medium::before_read = [&] {
      if (++reads == all - takes + 1) *spoilt ^= std::byte{1};
    };
    db.reset();
    std::ranges::copy(before, bytes.begin());
    reopen();
    plain_medium::before_read = {};
    *spoilt ^= std::byte{1};
  }
  uint64_t full() {
    uint64_t n = 0;
    for (uint32_t i = 0; i < db->parts().space->count(); ++i)
      n += db->parts().space->note(i).what.load() == use::full;
    return n;
  }
};
INSTANTIATE_TEST_SUITE_P(, Dropped, ::testing::Values(protection::none),
                         [](const auto&) { return std::string("None"); });

// The decision about them is forgotten when they are void, and not before.
TEST_P(Dropped, DoNotCountAfterACloseEither) {
  make();
  for (uint64_t i = 0; i < 5; ++i) put(i, std::string(100, '*'));
  put_later(10, 1, 100, 'l');
  put_later(11, 1, 100, 'd');
  *find(100, 'l') ^= std::byte{1};  // torn
  reopen_with_a_damaged_victim(find(100, '*'), 1);
  EXPECT_EQ(db->recovered().batches_dropped, 1U);
  EXPECT_EQ(c->texts.size(), 5U);
  EXPECT_EQ(full(), 1U);
  for (int again = 0; again < 2; ++again) {
    db->close();
    reopen();
    EXPECT_EQ(c->texts.size(), 5U);
    EXPECT_EQ(c->get(11), "-");
  }
  db->close();
  EXPECT_EQ(db->parts().head.last_valid_count, 0U) << "nothing of that lane is there any more";
}

// A segment in which a dropped batch continues stays with the segment that it comes from.
TEST_P(Dropped, StayTogether) {
  make();
  for (uint64_t i = 0; i < 5; ++i) put(i, std::string(100, '*'));
  put_later(10, 1, 100, 'l');
  put_later(20, 3, 50'000, 'd');
  const uint64_t filled = full() + 1;
  EXPECT_EQ(filled, 3U);
  *find(100, 'l') ^= std::byte{1};
  reopen_with_a_damaged_victim(find(100, '*'), filled);
  EXPECT_EQ(c->texts.size(), 5U);
  EXPECT_EQ(full(), filled);
  db->close();
  reopen();
  EXPECT_EQ(c->texts.size(), 5U);
  EXPECT_EQ(full(), 0U) << "nor does what the opening before has copied (POW-21)";
}

}  // namespace
}  // namespace scute::core::pow

// SPDX-License-Identifier: BSD-3-Clause
// Pages that are lost one after the other, with a proper close between, where each section has its
// parity (`always`).
#include "store_fixture.hpp"

namespace scute::core::pow {
namespace {

class Pairs : public Store {};
INSTANTIATE_TEST_SUITE_P(, Pairs, ::testing::Values(protection::always),
                         [](const auto&) { return "Always"; });

// One of every segment and of the head, then the next one of each.
TEST_P(Pairs, OnePageOfEachSegmentAfterTheOther) {
  make();
  for (uint64_t i = 0; i < 60; ++i)
    put(i, std::string(700 + i * 37, static_cast<char>('a' + i % 26)));
  for (uint64_t i = 0; i < 60; i += 4) put(i, std::string(300, 'y'));
  db->close();
  const auto all = c->texts;
  const uint64_t pages = 72 * 1024 / head_page;
  for (uint64_t round = 0; round < 3 * pages; ++round) {
    db.reset();
    for (uint64_t s = 0; s < segments; ++s)
      std::fill_n(
          bytes.data() + first_segment + s * 72 * 1024 + (round * 5 + s) % pages * head_page,
          head_page, static_cast<std::byte>(0x11 + round));
    std::fill_n(bytes.data() + round % head_copies * head_page, head_page, std::byte{0x77});
    ASSERT_NO_THROW(reopen()) << round;
    ASSERT_EQ(c->texts, all) << round;
    if (round % 3 == 1) db->compact({});
    if (round % 3 == 2) db->clean(100);
    for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << round << ": " << d.text;
    db->close();
  }
}

}  // namespace
}  // namespace scute::core::pow

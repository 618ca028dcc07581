// SPDX-License-Identifier: BSD-3-Clause
// Fences that fail: the store does not report undurable objects as durable.
#include "store_fixture.hpp"

namespace scute::core::pow {
namespace {

class Fences : public Store {
 protected:
  file_head head() const {
    file_head h;
    std::memcpy(&h, bytes.data(), sizeof h);
    return h;
  }
  // Each fence of fn in turn fails, except those of the head's copies, which come last. check:
  // the required state of the head then.
  template <typename Make, typename Fn, typename Check>
  void each(Make&& prepare, Fn&& fn, Check&& check) {
    prepare();
    const uint64_t before = file().fences;
    fn();
    const uint64_t all = file().fences - before;
    ASSERT_GT(all, head_copies);
    for (uint64_t n = 1; n <= all - head_copies; ++n) {
      prepare();
      const file_head was = head();
      file().fail_fence(n);
      try {
        fn();
        FAIL() << "fence " << n << " of " << all << " has failed, and no error is reported";
      } catch (const failure& f) {
        EXPECT_EQ(f.code(), SCUTE_E_IO) << f.what();
      }
      check(was, head());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(, Fences, ::testing::Values(protection::none, protection::always),
                         [](const auto& p) {
                           return std::string(p.param == protection::none ? "None" : "Always");
                         });

// Nothing that may not be there is said to be closed.
TEST_P(Fences, AFailingCloseLeavesTheFileOpen) {
  each(
      [&] {
        make();
        put(1, "one");
        section s(db->parts(), durability::later);
        c->put(s, 2, "two");
        s.commit();
      },
      [&] { db->close(); },
      [](const file_head&, const file_head& now) {
        EXPECT_EQ(now.clean, 0U);
        EXPECT_EQ(now.decided, 0U);
      });
}

// The head does not name segments that may not be void.
TEST_P(Fences, AFailingGrowthLeavesTheFileAsItIs) {
  each(
      [&] {
        segments = 6;
        make();
      },
      [&] {
        medium::writer w(*db->parts().medium);
        int refusal = 0;
        ASSERT_TRUE(db->parts().grow(w, db->parts().space->count(), refusal));
      },
      [](const file_head& before, const file_head& now) {
        EXPECT_EQ(now.segments, before.segments);
      });
}

}  // namespace
}  // namespace scute::core::pow

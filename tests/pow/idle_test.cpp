// SPDX-License-Identifier: BSD-3-Clause
// The cost of a store in which no section writes does not grow with its size.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "cells.hpp"
#include "plain_medium.hpp"
#include "pow/store.hpp"
#include "support/wait.hpp"

namespace scute::core::pow {
namespace {

class Idle : public ::testing::TestWithParam<protection> {};
INSTANTIATE_TEST_SUITE_P(, Idle,
                         ::testing::Values(protection::none, protection::sealed,
                                           protection::always),
                         [](const auto& p) {
                           return p.param == protection::none     ? "None"
                                  : p.param == protection::sealed ? "Sealed"
                                                                  : "Always";
                         });

// Rounds of the cleaner, once it has nothing to do: it looks at no segment, reads nothing and
// writes nothing.
TEST_P(Idle, CostsNothingHoweverManySegmentsThereAre) {
  constexpr uint64_t most = 400;
  const uint64_t segment_size = GetParam() == protection::none     ? head_page
                                : GetParam() == protection::sealed ? sealed_least
                                                                   : tracks_least;
  for (const uint64_t objects : {uint64_t{10}, 1000 * segment_size / head_page}) {
    std::vector<std::byte> memory(first_segment + most * segment_size + head_page);
    void* at = memory.data();
    size_t room = memory.size();
    std::align(head_page, room - head_page, at, room);
    const std::span bytes(static_cast<std::byte*>(at), memory.size() - head_page);
    shape how;
    how.protect = GetParam();
    how.segment_size = segment_size;
    how.segments = segments_least;
    store_options w;
    w.limit.max_size = bytes.size();
    w.background = true;
    auto file = std::make_unique<plain_medium>(bytes);
    plain_medium& medium = *file;
    const auto db = store::create(std::move(file), "plain", how, w);
    cells c;
    c.t = &db->attach("cells", 7, 0, true, c);
    std::mt19937_64 random(3);
    for (uint64_t i = 0; i < 2 * objects; ++i) {
      section s(db->parts(), durability::strict);
      c.put(s, i < objects ? i : random() % objects, std::string(500, 'x'));
      s.commit();
    }
    statistics& count = db->parts().count;
    EXPECT_EQ(db->parts().space->count() > 100, objects > 100) << db->parts().space->count();
    // It has cleaned what those have left: whole rounds have passed without work.
    uint64_t rounds = 0, at_work = 0;
    test::wait_until([&] {
      const uint64_t work = count.rounds_at_work;
      if (work != at_work || rounds == 0) {
        at_work = work;
        rounds = count.rounds;
      }
      return count.rounds >= rounds + 2;
    });
    const uint64_t fences = medium.fences;
    rounds = count.rounds;
    test::wait_until([&] { return count.rounds >= rounds + 3; });
    EXPECT_EQ(count.rounds_at_work, at_work) << objects;
    EXPECT_EQ(medium.fences, fences) << objects;
  }
}

}  // namespace
}  // namespace scute::core::pow

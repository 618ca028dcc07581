// SPDX-License-Identifier: BSD-3-Clause
// The counts of STAMP's transactions are right: they are numbers that follow from the inputs alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "workloads/stamp/applications.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;

double bytes_in_all(const load& l) {
  return l.bytes * static_cast<double>(l.transactions);
}

TEST(stamp_load, an_edge_of_ssca2_is_four_updates_of_four_bytes) {
  const ssca2_input graph({8, 3});
  const load l = measure(graph);
  EXPECT_EQ(l.transactions, graph.edges.size());
  EXPECT_EQ(l.updates, 4 * graph.edges.size());
  EXPECT_DOUBLE_EQ(l.bytes, 16);
  EXPECT_EQ(l.new_bytes, 0);
}

// A round takes the points three at a time and once in vain, adds each to a centre, adds to the
// number of those that moved, and makes new centres.
TEST(stamp_load, rounds_of_kmeans) {
  constexpr uint64_t points = 100, dimensions = 7, clusters = 5, rounds = 2;
  const load l = measure(kmeans_input({points, dimensions, 4, clusters, rounds, 0, 7}));
  constexpr uint64_t shares = (points + 2) / 3 + 1, numbers = 1 + dimensions;
  EXPECT_EQ(l.transactions, rounds * (shares + points + 2));
  EXPECT_EQ(l.updates, rounds * (shares + 1 + points * numbers + 2 * clusters * numbers + 2));
  EXPECT_DOUBLE_EQ(bytes_in_all(l),
                   rounds * (8.0 * (shares + 1 + 2) + 4.0 * (points + 2 * clusters) * numbers));
}

TEST(stamp_load, a_way_through_an_empty_labyrinth) {
  const labyrinth_input maze({20, 20, 3, 1, 5});
  const auto away = [&](uint32_t divisor, uint32_t size) {
    const auto place = [&](uint32_t cell) { return static_cast<int>(cell / divisor % size); };
    return std::abs(place(maze.pairs[0].from) - place(maze.pairs[0].to));
  };
  const int cells = 1 + away(1, 20) + away(20, 20) + away(400, 3);
  const load l = measure(maze);
  EXPECT_EQ(l.transactions, 3U);  // the pair, its way, and that there are no more pairs
  EXPECT_EQ(l.updates, 1U + static_cast<unsigned>(cells));
  EXPECT_DOUBLE_EQ(bytes_in_all(l), 8.0 * (1 + cells));
}

// measure() throws if a result is wrong, or run() does not know its transactions.
TEST(stamp_load, every_application) {
  for (const application& a : applications()) {
    SCOPED_TRACE(a.name);
    const load l = measure(make_input(a.name, scale::tiny, 1, 3));
    EXPECT_GT(l.bytes, 0);
    EXPECT_GT(l.updates, 0U);
  }
  EXPECT_THROW(make_input("bayes", scale::tiny, 1, 3), std::invalid_argument);
}

}  // namespace
}  // namespace scute::test

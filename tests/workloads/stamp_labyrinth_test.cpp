// SPDX-License-Identifier: BSD-3-Clause
// labyrinth's paths are replayed one by one in a box of the test's own: each is connected, goes
// through cells that were free, and is as short as a path could be at that time; where there is
// none, none was possible.
#include <deque>
#include <map>

#include "workloads/stamp_suite.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;

// Cells as x, y, z.
struct plain_box {
  int x, y, z;
  std::vector<bool> taken;

  explicit plain_box(const labyrinth_setup& how)
      : x(static_cast<int>(how.x)),
        y(static_cast<int>(how.y)),
        z(static_cast<int>(how.z)),
        taken(how.x * how.y * how.z) {}

  std::vector<int> around(int cell) const {
    std::vector<int> cells;
    const int a = cell % x, b = cell / x % y, c = cell / x / y;
    const int steps[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (const auto& s : steps) {
      const int i = a + s[0], j = b + s[1], k = c + s[2];
      if (i >= 0 && i < x && j >= 0 && j < y && k >= 0 && k < z)
        cells.push_back(i + x * (j + y * k));
    }
    return cells;
  }
  // Steps of the shortest way; -1: there is none.
  int distance(int from, int to) const {
    std::map<int, int> steps{{from, 0}};
    for (std::deque<int> front{from}; !front.empty(); front.pop_front())
      for (const int n : around(front.front())) {
        if (n == to) return steps[front.front()] + 1;
        if (!taken[static_cast<size_t>(n)] && steps.emplace(n, steps[front.front()] + 1).second)
          front.push_back(n);
      }
    return -1;
  }
};

template <class Stage>
class stamp_labyrinth : public stamp_suite<Stage> {
 protected:
  void compare(const labyrinth_setup& how, bool crowded) {
    const labyrinth_input input(how);
    this->play(input, 1, [&]<class A>(const A& a) {
      plain_box box(how);
      for (const auto& p : input.pairs) box.taken[p.from] = box.taken[p.to] = true;
      std::map<uint64_t, std::vector<int>> paths;
      for (uint32_t i = 0; i < input.cells(); ++i) {
        const uint64_t path = a.cell(i);
        if (path == A::reserved) {
          EXPECT_TRUE(box.taken[i]);
        } else if (path != 0) {
          paths[path].push_back(static_cast<int>(i));
        }
      }
      size_t routed = 0;
      for (size_t i = 0; i < input.pairs.size(); ++i) {
        const int from = static_cast<int>(input.pairs[i].from);
        const int to = static_cast<int>(input.pairs[i].to);
        const int shortest = box.distance(from, to);
        const std::vector<int>& cells = paths[i + 1];
        ASSERT_EQ(static_cast<int>(cells.size()), shortest + 1) << "pair " << i;
        if (cells.empty()) continue;
        ++routed;
        // Alone in the box, the path's cells connect the ends.
        plain_box alone(how);
        alone.taken.assign(alone.taken.size(), true);
        for (const int c : cells) {
          const auto at = static_cast<size_t>(c);
          EXPECT_TRUE(!box.taken[at] || c == from || c == to);
          alone.taken[at] = false;
          box.taken[at] = true;
        }
        EXPECT_EQ(alone.distance(from, to), shortest);
      }
      EXPECT_GT(routed, 0U);
      EXPECT_EQ(routed < input.pairs.size(), crowded);
      EXPECT_LE(paths.size(), input.pairs.size());
    });
  }
};
TYPED_TEST_SUITE(stamp_labyrinth, stamp_stages, stamp_stage_name);

TYPED_TEST(stamp_labyrinth, roomy) {
  this->compare({24, 20, 4, 12, 3}, false);
}
TYPED_TEST(stamp_labyrinth, crowded) {
  this->compare({15, 15, 2, 60, 4}, true);
}

}  // namespace
}  // namespace scute::test

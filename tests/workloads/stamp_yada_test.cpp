// SPDX-License-Identifier: BSD-3-Clause
// yada's mesh, looked at without what made it: triangles that tile the square, with all corners
// of the input (DELAUN-1, DELAUN-2), with every angle large enough, and with empty circles
// (DELAUN-3).
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "workloads/stamp_suite.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;
using corner = std::pair<long, long>;
using corners = std::array<corner, 3>;

corner corner_of(point p) {
  return {p.x, p.y};
}

// By the angles of the corners, in long double: no formula of the library's.
long double angle(corner at, corner a, corner b) {
  const long double ax = a.first - at.first, ay = a.second - at.second;
  const long double bx = b.first - at.first, by = b.second - at.second;
  return std::atan2(ax * by - ay * bx, ax * bx + ay * by) * 180 / std::numbers::pi_v<long double>;
}

void expect_mesh(const std::vector<corners>& mesh, double degrees) {
  std::map<std::pair<corner, corner>, int> edges;
  std::set<corner> all;
  long double area = 0;
  for (const corners& t : mesh)
    for (unsigned i = 0; i < 3; ++i) {
      const corner a = t[i], b = t[(i + 1) % 3], c = t[(i + 2) % 3];
      all.insert(a);
      ++edges[{a, b}];
      area += static_cast<long double>(a.first) * b.second -
              static_cast<long double>(b.first) * a.second;
      EXPECT_GE(angle(a, b, c), degrees - 1e-9);
    }
  constexpr long side = extent;
  EXPECT_EQ(area, 2.0L * side * side);
  // An edge is there once in each direction, or lies on the border.
  long border = 0;
  for (const auto& [e, n] : edges) {
    const auto& [a, b] = e;
    EXPECT_EQ(n, 1);
    if (edges.contains({b, a})) continue;
    EXPECT_TRUE((a.first == b.first && (a.first == 0 || a.first == side)) ||
                (a.second == b.second && (a.second == 0 || a.second == side)));
    border += std::labs(a.first - b.first) + std::labs(a.second - b.second);
  }
  EXPECT_EQ(border, 4 * side);
}

void expect_empty_circles(const std::vector<corners>& mesh) {
  std::set<corner> all;
  for (const corners& t : mesh) all.insert(t.begin(), t.end());
  for (const corners& t : mesh)
    for (const corner& p : all) {
      if (p == t[0] || p == t[1] || p == t[2]) continue;
      // Seen from p and from the corner opposite an edge, the angles add up to more than half a
      // turn if p is in the circle.
      bool inside = true;
      for (unsigned i = 0; i < 3 && inside; ++i) {
        const corner a = t[i], b = t[(i + 1) % 3], c = t[(i + 2) % 3];
        const long double seen = std::fabs(angle(p, a, b));
        const bool beyond = angle(a, b, p) < 0;  // p and c lie on different sides of the edge
        inside = beyond ? seen + angle(c, a, b) > 180 + 1e-9 : seen > angle(c, a, b) + 1e-9;
      }
      EXPECT_FALSE(inside);
    }
}

template <class Stage>
class stamp_yada : public stamp_suite<Stage> {
 protected:
  void compare(const yada_setup& how) {
    const yada_input input(how);
    std::set<corner> wanted;
    for (const auto& t : input.triangles)
      for (const point p : t.corner) wanted.insert(corner_of(p));
    ASSERT_EQ(wanted.size(), how.points + 4U);
    this->play(input, 1, [&](const auto& a) {
      std::vector<corners> mesh;
      a.for_each([&](const auto& t) {
        mesh.push_back({corner_of(t.corner[0]), corner_of(t.corner[1]), corner_of(t.corner[2])});
      });
      EXPECT_EQ(a.given_up(), 0U);
      EXPECT_EQ(mesh.size(), a.triangles());
      expect_mesh(mesh, how.degrees);
      if (how.points <= 40) expect_empty_circles(mesh);
      for (const corners& t : mesh)
        for (const corner& c : t) wanted.erase(c);
      EXPECT_TRUE(wanted.empty()) << "corners of the input are lost";
    });
  }
};
TYPED_TEST_SUITE(stamp_yada, stamp_stages, stamp_stage_name);

TYPED_TEST(stamp_yada, few_points) {
  this->compare({40, 20, 3});
}
TYPED_TEST(stamp_yada, more_points) {
  this->compare({500, 15, 4});
}
TYPED_TEST(stamp_yada, no_points) {
  this->compare({0, 20, 5});
}

TEST(stamp_yada_input, is_a_delaunay_triangulation) {
  const yada_input input({60, 20, 6});
  std::vector<corners> mesh;
  for (const auto& t : input.triangles)
    mesh.push_back({corner_of(t.corner[0]), corner_of(t.corner[1]), corner_of(t.corner[2])});
  EXPECT_EQ(mesh.size(), 2U * 60 + 2);
  expect_mesh(mesh, 0);
  expect_empty_circles(mesh);
}

}  // namespace
}  // namespace scute::test

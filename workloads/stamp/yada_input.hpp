// SPDX-License-Identifier: BSD-3-Clause
// The Delaunay triangulation of random points in a square, with the square's corners.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "workloads/dice.hpp"
#include "workloads/stamp/cavity.hpp"

namespace scute::workloads::stamp {

struct yada_setup {
  uint32_t points;
  double degrees;  // every angle is to have; Ruppert's algorithm ends for sure up to 20.7
  uint64_t seed = 1;
};

struct yada_input {
  using handle = uint32_t;  // 1 + number of the triangle; 0: none
  using shape = triangle<handle>;

  double sharpness_min;
  std::vector<shape> triangles;

  explicit yada_input(const yada_setup& how) {
    const double sine = std::sin(how.degrees * std::numbers::pi / 180);
    sharpness_min = sine * sine;
    constexpr point corner[] = {{0, 0}, {extent, 0}, {extent, extent}, {0, extent}};
    triangles.push_back({{corner[0], corner[1], corner[2]}, {0, 2, 0}});
    triangles.push_back({{corner[0], corner[2], corner[3]}, {0, 0, 1}});
    handle last = 1;
    for (const point p : points(how)) last = insert(last, p);
  }

 private:
  // In stripes, so that each is near to the one before.
  static std::vector<point> points(const yada_setup& how) {
    dice random(how.seed);
    std::vector<point> all;
    const auto draw = [&] { return static_cast<int32_t>(random.between(1, extent - 1)); };
    for (uint32_t i = 0; i < how.points; ++i) {
      const int32_t x = draw();
      all.push_back({x, draw()});
    }
    const auto stripes = static_cast<int32_t>(std::sqrt(how.points) / 2 + 1);
    const int32_t height = extent / stripes + 1;
    std::ranges::sort(all, [height](point a, point b) {
      const int32_t of_a = a.y / height, of_b = b.y / height;
      if (of_a != of_b) return of_a < of_b;
      if (a.x != b.x) return (a.x < b.x) == (of_a % 2 == 0);
      return a.y < b.y;
    });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // Reuses the places of those that go.
  handle insert(handle near, point p) {
    const auto shape_of = [this](handle h) -> const shape& { return triangles[h - 1]; };
    hole_.grow(shape_of, locate(shape_of, near, p).at, p);
    size_t reused = 0;
    const auto make = [&] {
      if (reused < hole_.going().size()) return hole_.going()[reused++];
      triangles.emplace_back();
      return static_cast<handle>(triangles.size());
    };
    // Shapes are set after all neighbours have been asked for the ones that go.
    std::vector<std::pair<handle, shape>> fresh;
    hole_.fill(
        shape_of, p, make, [&](handle h, const shape& t) { fresh.emplace_back(h, t); },
        [&](handle outside, unsigned side, handle h) { links_.push_back({outside, side, h}); });
    for (const auto& [h, t] : fresh) triangles[h - 1] = t;
    for (const link& l : links_) triangles[l.outside - 1].beside[l.side] = l.to;
    links_.clear();
    return hole_.made().front();
  }

  struct link {
    handle outside;
    unsigned side;
    handle to;
  };
  cavity<handle> hole_;
  std::vector<link> links_;
};

}  // namespace scute::workloads::stamp

// SPDX-License-Identifier: BSD-3-Clause
// Points of up to 32 dimensions, normally distributed around some true centres. Coordinates are
// quarters between 0 and 128: sums of 32768 of them are exact, so that the order of the points does
// not matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/dice.hpp"

namespace scute::workloads::stamp {

struct kmeans_setup {
  uint32_t points, dimensions, true_centres;
  uint32_t clusters;
  unsigned rounds_max;  // of the algorithm
  double threshold;     // it ends when a smaller share of the points changes its cluster
  uint64_t seed = 1;
};

struct kmeans_input {
  kmeans_setup how;
  std::vector<float> coordinates;  // of the points, one after the other
  std::vector<uint32_t> first;     // the points that the clusters begin with

  explicit kmeans_input(const kmeans_setup& h) : how(h) {
    dice random(how.seed);
    std::vector<double> centres(how.true_centres * how.dimensions);
    for (double& c : centres) c = 16 + 96 * random.fraction();
    for (uint32_t i = 0; i < how.points; ++i) {
      const uint64_t near = random.below(how.true_centres) * how.dimensions;
      for (uint32_t d = 0; d < how.dimensions; ++d) {
        const double x = std::round((centres[near + d] + 12 * random.normal()) * 4) / 4;
        coordinates.push_back(static_cast<float>(std::clamp(x, 0.0, 128.0)));
      }
    }
    std::vector<uint32_t> order(how.points);
    for (uint32_t i = 0; i < how.points; ++i) order[i] = i;
    random.shuffle(order);
    first.assign(order.begin(), order.begin() + how.clusters);
  }

  std::span<const float> point(uint64_t i) const {
    return {coordinates.data() + i * how.dimensions, how.dimensions};
  }
};

}  // namespace scute::workloads::stamp

// SPDX-License-Identifier: BSD-3-Clause
// A box of cells, and pairs of them that are to be connected. No cell is an end of two pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/dice.hpp"

namespace scute::workloads::stamp {

struct labyrinth_setup {
  uint32_t x, y, z;
  uint32_t pairs;
  uint64_t seed = 1;
};

struct labyrinth_input {
  struct pair {
    uint32_t from, to;
  };
  labyrinth_setup how;
  std::vector<pair> pairs;

  explicit labyrinth_input(const labyrinth_setup& h) : how(h) {
    dice random(how.seed);
    std::vector<bool> taken(cells());
    const auto draw = [&] {
      uint64_t cell = random.below(cells());
      while (taken[cell]) cell = random.below(cells());
      taken[cell] = true;
      return static_cast<uint32_t>(cell);
    };
    for (uint32_t i = 0; i < how.pairs; ++i) {
      const uint32_t from = draw();
      pairs.push_back({from, draw()});
    }
  }

  uint32_t cells() const noexcept { return how.x * how.y * how.z; }

  // f(neighbour) for the up to six neighbours of a cell.
  template <class F>
  void for_each_neighbour(uint32_t cell, F&& f) const {
    const uint32_t x = cell % how.x, y = cell / how.x % how.y, z = cell / (how.x * how.y);
    if (x > 0) f(cell - 1);
    if (x + 1 < how.x) f(cell + 1);
    if (y > 0) f(cell - how.x);
    if (y + 1 < how.y) f(cell + how.x);
    if (z > 0) f(cell - how.x * how.y);
    if (z + 1 < how.z) f(cell + how.x * how.y);
  }
};

}  // namespace scute::workloads::stamp

// SPDX-License-Identifier: BSD-3-Clause
// A directed graph as the Scalable Synthetic Compact Applications benchmark 2 describes it:
// vertices lie in cliques of random sizes, with edges between nearly all vertices of a clique and
// few between cliques, and neither the numbers of the vertices nor the order of the edges shows
// which.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "workloads/dice.hpp"

namespace scute::workloads::stamp {

struct ssca2_setup {
  unsigned scale;  // 2^scale vertices
  uint64_t seed = 1;
};

struct ssca2_input {
  struct edge {
    uint32_t from, to;
    friend auto operator<=>(const edge&, const edge&) = default;
  };
  uint32_t vertices;
  std::vector<edge> edges;

  explicit ssca2_input(const ssca2_setup& how) : vertices(uint32_t{1} << how.scale) {
    dice random(how.seed);
    std::vector<uint32_t> names(vertices);
    for (uint32_t i = 0; i < vertices; ++i) names[i] = i;
    random.shuffle(names);

    const uint64_t clique_max = uint64_t{1} << how.scale / 3;
    std::vector<uint32_t> begins;  // of the cliques
    for (uint64_t at = 0; at < vertices; at += random.between(1, clique_max * 5 / 4))
      begins.push_back(static_cast<uint32_t>(at));
    const uint64_t cliques = begins.size();
    begins.push_back(vertices);

    const auto add = [&](uint32_t a, uint32_t b) { edges.push_back({names[a], names[b]}); };
    for (uint64_t c = 0; c < cliques; ++c)
      for (uint32_t a = begins[c]; a < begins[c + 1]; ++a) {
        for (uint32_t b = a + 1; b < begins[c + 1]; ++b) {
          const bool forward = random.percent(50);
          add(forward ? a : b, forward ? b : a);
          if (random.percent(20)) add(forward ? b : a, forward ? a : b);
        }
        // To a clique 1, 2, 4 ... away, each half as likely as the one before.
        for (uint64_t away = 1; away < cliques; away *= 2) {
          if (!random.percent(100 / (2 * away))) continue;
          const uint64_t other = (c + away) % cliques;
          add(a, static_cast<uint32_t>(random.between(begins[other], begins[other + 1] - 1)));
        }
      }
    random.shuffle(edges);
  }
};

}  // namespace scute::workloads::stamp

// SPDX-License-Identifier: BSD-3-Clause
// The adjacency that ssca2 makes is that of the edge list.
#include <algorithm>
#include <map>

#include "workloads/stamp_suite.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;
using lists = std::map<uint32_t, std::vector<uint32_t>>;

template <class Stage>
class stamp_ssca2 : public stamp_suite<Stage> {
 protected:
  void compare(const ssca2_input& input, unsigned threads) {
    lists targets, sources;
    for (const auto& e : input.edges) {
      targets[e.from].push_back(e.to);
      sources[e.to].push_back(e.from);
    }
    // Two threads enter edges in any order.
    const auto in_order = [&](std::vector<uint32_t> list) {
      if (threads > 1) std::ranges::sort(list);
      return list;
    };
    this->play(input, threads, [&](const auto& a) {
      for (uint32_t v = 0; v < input.vertices; ++v) {
        ASSERT_EQ(in_order(a.targets(v)), in_order(targets[v])) << v;
        ASSERT_EQ(in_order(a.sources(v)), in_order(sources[v])) << v;
      }
    });
  }
};
TYPED_TEST_SUITE(stamp_ssca2, stamp_stages, stamp_stage_name);

TYPED_TEST(stamp_ssca2, one_thread) {
  this->compare(ssca2_input({9, 3}), 1);
}
TYPED_TEST(stamp_ssca2, two_threads) {
  this->compare(ssca2_input({9, 4}), 2);
}

TEST(stamp_ssca2_input, most_edges_lie_in_cliques) {
  const ssca2_input graph({12, 1});
  EXPECT_GT(graph.edges.size(), graph.vertices * 3ULL);
  EXPECT_LT(graph.edges.size(), graph.vertices * 20ULL);
  for (const auto& e : graph.edges) ASSERT_TRUE(e.from < graph.vertices && e.to < graph.vertices);
}

}  // namespace
}  // namespace scute::test

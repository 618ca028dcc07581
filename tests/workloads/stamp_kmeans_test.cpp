// SPDX-License-Identifier: BSD-3-Clause
// kmeans gives the clusters and means of a plain one, to the last bit: the sums of these points
// are exact in any order.
#include <limits>
#include <set>

#include "workloads/stamp_suite.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;

struct plain_kmeans {
  std::vector<std::vector<float>> means;
  std::vector<uint32_t> member;
  unsigned rounds = 0;

  explicit plain_kmeans(const kmeans_input& in) : member(in.how.points, in.how.clusters) {
    for (const uint32_t i : in.first) means.emplace_back(in.point(i).begin(), in.point(i).end());
    uint32_t moved = in.how.points;
    while (rounds < in.how.rounds_max && moved != 0 && moved >= in.how.threshold * in.how.points) {
      moved = 0;
      std::vector<std::vector<float>> sums(means.size(), std::vector<float>(in.how.dimensions));
      std::vector<float> counts(means.size());
      for (uint32_t i = 0; i < in.how.points; ++i) {
        const uint32_t k = nearest(in.point(i));
        if (k != member[i]) ++moved;
        member[i] = k;
        counts[k] += 1;
        for (uint32_t d = 0; d < in.how.dimensions; ++d) sums[k][d] += in.point(i)[d];
      }
      for (size_t k = 0; k < means.size(); ++k)
        for (uint32_t d = 0; d < in.how.dimensions && counts[k] > 0; ++d)
          means[k][d] = sums[k][d] / counts[k];
      ++rounds;
    }
  }
  uint32_t nearest(std::span<const float> p) const {
    uint32_t best = 0;
    float least = std::numeric_limits<float>::infinity();
    for (uint32_t k = 0; k < means.size(); ++k) {
      float sum = 0;
      for (size_t d = 0; d < p.size(); ++d) {
        const float x = p[d] - means[k][d];
        sum += x * x;
      }
      if (sum < least) best = k, least = sum;
    }
    return best;
  }
};

template <class Stage>
class stamp_kmeans : public stamp_suite<Stage> {
 protected:
  void compare(const kmeans_setup& how, unsigned threads) {
    const kmeans_input input(how);
    const plain_kmeans wanted(input);
    this->play(input, threads, [&](const auto& a) {
      ASSERT_EQ(a.rounds(), wanted.rounds);
      for (uint32_t k = 0; k < how.clusters; ++k) ASSERT_EQ(a.mean(k), wanted.means[k]) << k;
      for (uint32_t i = 0; i < how.points; ++i) ASSERT_EQ(a.member(i), wanted.member[i]) << i;
    });
  }
};
TYPED_TEST_SUITE(stamp_kmeans, stamp_stages, stamp_stage_name);

TYPED_TEST(stamp_kmeans, one_thread) {
  this->compare({500, 7, 6, 9, 20, 0.001, 5}, 1);
}
TYPED_TEST(stamp_kmeans, two_threads) {
  this->compare({500, 32, 6, 5, 20, 0.001, 6}, 2);
}
// It ends for want of rounds.
TYPED_TEST(stamp_kmeans, few_rounds) {
  this->compare({200, 3, 8, 40, 2, 0.0, 7}, 2);
}

// Of two centres at the same place the second gets no points, and stays where it is.
TYPED_TEST(stamp_kmeans, centres_without_points) {
  const kmeans_setup how{60, 1, 2, 40, 4, 0.0, 8};
  const plain_kmeans wanted{kmeans_input(how)};
  const std::set<uint32_t> used(wanted.member.begin(), wanted.member.end());
  ASSERT_LT(used.size(), how.clusters);
  this->compare(how, 1);
}

#ifdef SCUTE_TEST_HAVE_PMEMOBJ
// The sums are the one run of an array in STAMP that a program with instrumented stores saves in
// pieces.
using stamp_kmeans_of_elements = stamp_kmeans<pmemobj_elements_stage>;
TEST_F(stamp_kmeans_of_elements, two_threads) {
  compare({300, 32, 6, 5, 20, 0.001, 8}, 2);
}
#endif

}  // namespace
}  // namespace scute::test

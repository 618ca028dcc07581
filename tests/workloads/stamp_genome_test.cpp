// SPDX-License-Identifier: BSD-3-Clause
// genome puts the gene together that the segments were cut from, from as many segments as there
// are different ones.
#include <set>
#include <string>

#include "workloads/stamp_suite.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;

std::string text_of(const genome_input::letters& l, uint32_t n) {
  std::string s;
  for (uint32_t i = 0; i < n; ++i) s += genome_input::letter(l, i);
  return s;
}

template <class Stage>
class stamp_genome : public stamp_suite<Stage> {
 protected:
  void compare(const genome_setup& how) {
    const genome_input input(how);
    std::set<std::string> different;
    for (const auto& s : input.segments) different.insert(text_of(s, how.segment_length));
    this->play(input, 1, [&](const auto& a) {
      EXPECT_EQ(a.segments(), different.size());
      EXPECT_EQ(a.sequence(), input.gene);
    });
  }
};
TYPED_TEST_SUITE(stamp_genome, stamp_stages, stamp_stage_name);

TYPED_TEST(stamp_genome, every_place_is_covered_often) {
  this->compare({256, 16, 2000, 3});
}
// Overlaps of all lengths down to half a segment.
TYPED_TEST(stamp_genome, thinly_covered) {
  this->compare({2000, 64, 100, 4});
}
TYPED_TEST(stamp_genome, odd_lengths) {
  this->compare({900, 33, 200, 5});
}

// Every segment is a part of the gene, and the two ends of the gene are there.
TEST(stamp_genome_input, segments_cover_the_gene) {
  const genome_setup how{1000, 40, 60, 6};
  const genome_input input(how);
  std::vector<unsigned> covered(how.gene_length);
  for (const auto& s : input.segments) {
    const size_t at = input.gene.find(text_of(s, how.segment_length));
    ASSERT_NE(at, std::string::npos);
    for (uint32_t i = 0; i < how.segment_length; ++i) ++covered[at + i];
  }
  for (const unsigned n : covered) ASSERT_GT(n, 0U);
}

TEST(stamp_genome_input, parts_of_packed_letters) {
  const std::string text = "acgtaccgttgacatgcatgcatcgatcgattacgatcggatcgcgatatatcggcgctatcgt";
  ASSERT_EQ(text.size(), 64U);
  const auto all = genome_input::packed(text);
  for (uint32_t n = 0; n <= 64; ++n) {
    EXPECT_EQ(genome_input::first(all, n), genome_input::packed(text.substr(0, n))) << n;
    EXPECT_EQ(genome_input::from(all, n), genome_input::packed(text.substr(n))) << n;
  }
}

}  // namespace
}  // namespace scute::test

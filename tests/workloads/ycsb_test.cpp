// SPDX-License-Identifier: BSD-3-Clause
// The operations of YCSB have the proportions and the frequencies that their definitions say. Seeds
// are fixed: a run that passes once passes always.
#include "workloads/ycsb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "bench/random.hpp"

namespace scute::workloads::ycsb {
namespace {

using bench::random_source;

constexpr uint64_t records = 1000;
constexpr size_t draws = 400'000;

double uniform(random_source& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53;
}

// Within five standard deviations of a binomial distribution.
void expect_frequency(uint64_t seen, double p, size_t of, const std::string& what) {
  const auto n = static_cast<double>(of);
  EXPECT_NEAR(static_cast<double>(seen), n * p, 5 * std::sqrt(n * p * (1 - p)) + 1) << what;
}

std::vector<operation> make(char mix, distribution how, uint64_t seed, size_t n = draws,
                            record_space space = {records, records}) {
  random_source random(seed);
  const zipfian popular(records);
  generator from(mix, how, popular, space, random);
  return batch(from, n);
}

TEST(Zipfian, ProbabilitiesAddUp) {
  const zipfian z(records);
  double sum = 0;
  for (uint64_t i = 0; i < records; ++i) sum += z.probability(i);
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_NEAR(z.probability(0) / z.probability(9), std::pow(10, theta), 1e-9);
}

TEST(Zipfian, RanksHaveTheFrequenciesOfTheFormula) {
  for (const uint64_t n : {records, uint64_t{100'000}}) {
    const zipfian z(n);
    random_source random(7);
    std::vector<uint64_t> seen(n);
    for (size_t i = 0; i < draws; ++i) ++seen.at(z.rank(uniform(random)));
    // The first two are exact.
    expect_frequency(seen[0], z.probability(0), draws, "rank 0");
    expect_frequency(seen[1], z.probability(1), draws, "rank 1");
    // The others together, as the integral stands in for the sum: within 3 percent of all.
    double p = 0;
    uint64_t count = 0, at = 0;
    for (const uint64_t top : {10, 30, 100, 300, 1000}) {
      for (; at < top; ++at) p += z.probability(at), count += seen[at];
      EXPECT_NEAR(static_cast<double>(count) / draws, p, 0.03)
          << "the first " << top << " of " << n;
    }
  }
}

TEST(Zipfian, StaysInItsRange) {
  for (const uint64_t n : {1, 2, 3, 500}) {
    const zipfian z(n);
    EXPECT_EQ(z.rank(0), 0u);
    EXPECT_LT(z.rank(1 - 0x1p-53), n);
  }
  EXPECT_THROW(zipfian(0), std::invalid_argument);
}

TEST(Mix, Proportions) {
  const std::map<char, std::map<kind, double>> wanted{
      {'a', {{kind::read, 0.5}, {kind::update, 0.5}}},
      {'b', {{kind::read, 0.95}, {kind::update, 0.05}}},
      {'c', {{kind::read, 1}}},
      {'d', {{kind::read, 0.95}, {kind::insert, 0.05}}},
      {'e', {{kind::scan, 0.95}, {kind::insert, 0.05}}},
      {'f', {{kind::read, 0.5}, {kind::modify, 0.5}}}};
  for (const auto& [mix, shares] : wanted)
    for (const distribution how : {distribution::zipfian, distribution::uniform}) {
      std::map<kind, uint64_t> seen;
      for (const operation& o : make(mix, how, 3)) ++seen[o.what];
      EXPECT_EQ(seen.size(), shares.size()) << mix;
      for (const auto& [what, share] : shares)
        expect_frequency(seen[what], share, draws,
                         std::string(1, mix) + " kind " + std::to_string(static_cast<int>(what)));
    }
  EXPECT_THROW(make('g', distribution::uniform, 1), std::invalid_argument);
}

// The popular records are as popular as the formula says, and lie anywhere.
TEST(Mix, ZipfianIsScattered) {
  std::map<uint64_t, uint64_t> seen;
  for (const operation& o : make('c', distribution::zipfian, 5)) ++seen[o.record];
  const zipfian z(records);
  std::map<uint64_t, double> p;  // several ranks may meet in one record
  for (uint64_t rank = 0; rank < records; ++rank) p[key_of(rank) % records] += z.probability(rank);
  const uint64_t top = key_of(0) % records;
  EXPECT_NEAR(static_cast<double>(seen[top]) / draws, p[top], 0.02);
  const auto most = std::max_element(
      seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_EQ(most->first, top);
  EXPECT_NE(key_of(1) % records, top + 1);
}

TEST(Mix, UniformIsUniform) {
  std::vector<uint64_t> seen(records);
  for (const operation& o : make('c', distribution::uniform, 5)) ++seen.at(o.record);
  const double mean = static_cast<double>(draws) / records;
  double chi2 = 0;
  for (const uint64_t n : seen)
    chi2 += (static_cast<double>(n) - mean) * (static_cast<double>(n) - mean) / mean;
  // Mean `records`, standard deviation sqrt(2 * records).
  EXPECT_NEAR(chi2, records, 5 * std::sqrt(2.0 * records));
}

TEST(Mix, LatestAreReadMost) {
  // Without the inserts in between: the youngest common record against older ones.
  std::vector<uint64_t> by_age(records);
  uint64_t reads = 0, inserted = 0;
  for (const operation& o : make('d', distribution::zipfian, 9, 100'000)) {
    if (o.what == kind::insert) {
      EXPECT_EQ(o.record, records + inserted);
      ++inserted;
      continue;
    }
    ASSERT_LT(o.record, records + inserted) << "a record that is not there yet";
    ++reads;
    ++by_age.at(records + inserted - 1 - o.record);
  }
  const zipfian z(records);
  expect_frequency(by_age[0], z.probability(0), reads, "the youngest");
  expect_frequency(by_age[1], z.probability(1), reads, "the one before");
}

// Threads ask for nothing that another one inserts at the same time, and insert no record twice.
TEST(Mix, ThreadsKeepApart) {
  for (const char mix : {'d', 'e'})
    for (const distribution how : {distribution::zipfian, distribution::uniform}) {
      std::set<uint64_t> inserted;
      for (const uint64_t thread : {0, 1}) {
        std::set<uint64_t> own;
        for (const operation& o :
             make(mix, how, 11 + thread, 20'000, {records, records + thread * 5000})) {
          if (o.what == kind::insert) {
            EXPECT_TRUE(inserted.insert(o.record).second);
            own.insert(o.record);
          } else {
            EXPECT_TRUE(o.record < records || own.count(o.record) != 0);
            EXPECT_TRUE(o.what != kind::scan || o.record + o.records <= records);
            EXPECT_GE(o.records, 1);
          }
        }
      }
      EXPECT_GT(inserted.size(), 1000u);
    }
}

TEST(Mix, ScansAreAsLongAsTheyShouldBe) {
  std::vector<uint64_t> seen(scan_max + 1);
  uint64_t scans = 0;
  for (const operation& o : make('e', distribution::uniform, 13))
    if (o.what == kind::scan) ++seen.at(o.records), ++scans;
  EXPECT_EQ(seen[0], 0u);
  for (uint64_t n = 1; n <= scan_max; ++n)
    expect_frequency(seen[n], 1.0 / scan_max, scans, "scans of " + std::to_string(n));
}

}  // namespace
}  // namespace scute::workloads::ycsb

// SPDX-License-Identifier: BSD-3-Clause
#include "codec/parity/reed_solomon.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "codec/parity/parity.hpp"
#include "guarded_buffer.hpp"
#include "seeded.hpp"

namespace scute::core::codec {
namespace {

using galois::multiply;
using reed_solomon::coefficient;
using reed_solomon::erasure_solution;
using reed_solomon::parities_max;
using reed_solomon::rows_max;
using test::random_source;

using bytes = std::vector<unsigned char>;

// ---- the matrix ---------------------------------------------------------------------------------

TEST(ReedSolomonMatrix, ParityZeroIsXorAndNothingIsZero) {
  for (size_t row = 0; row < rows_max; ++row) {
    ASSERT_EQ(coefficient(0, row), 1) << row;
    for (size_t p = 0; p < parities_max; ++p) ASSERT_NE(coefficient(p, row), 0) << row;
  }
  // The coefficients that pools were made with: a change here makes pools unreadable.
  EXPECT_EQ(coefficient(1, 0), 0xA6);
  EXPECT_EQ(coefficient(2, 100), 0xC2);
  EXPECT_EQ(coefficient(3, 250), 0x1D);
}

// The matrix is 1 / (p + y), the y all different and different from all p, with columns multiplied
// by y: this is all that the theorem about Cauchy matrices asks for, for every number of rows.
TEST(ReedSolomonMatrix, IsACauchyMatrixWithScaledColumns) {
  for (size_t row = 0; row < rows_max; ++row) {
    const size_t y = row + parities_max;
    ASSERT_LT(y, 256U);
    for (size_t p = 0; p < parities_max; ++p) {
      ASSERT_EQ(multiply(coefficient(p, row), static_cast<uint8_t>(p ^ y)), y);
    }
  }
}

using matrix = std::function<uint8_t(size_t parity, size_t row)>;

uint8_t determinant(const matrix& m, const std::vector<size_t>& parities,
                    const std::vector<size_t>& rows) {
  if (rows.size() == 1) return m(parities[0], rows[0]);
  uint8_t sum = 0;
  const std::vector<size_t> others(parities.begin() + 1, parities.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<size_t> rest = rows;
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(i));
    sum ^= multiply(m(parities[0], rows[i]), determinant(m, others, rest));
  }
  return sum;
}

// Calls visit(chosen) for all ascending choices of k of the numbers below n.
void choose(size_t n, size_t k, const std::function<void(const std::vector<size_t>&)>& visit) {
  std::vector<size_t> chosen(k);
  std::iota(chosen.begin(), chosen.end(), 0U);
  for (;;) {
    visit(chosen);
    size_t i = k;
    while (i > 0 && chosen[i - 1] == n - k + i - 1) --i;
    if (i == 0) return;
    ++chosen[i - 1];
    for (; i < k; ++i) chosen[i] = chosen[i - 1] + 1;
  }
}

// The square parts of the first `rows` rows that cannot be inverted, of all `seen` of them.
size_t singular_parts(const matrix& m, size_t rows, size_t& seen) {
  size_t singular = 0;
  for (size_t k = 1; k <= parities_max; ++k) {
    choose(parities_max, k, [&](const std::vector<size_t>& parities) {
      choose(rows, k, [&](const std::vector<size_t>& chosen) {
        ++seen;
        singular += determinant(m, parities, chosen) == 0;
      });
    });
  }
  return singular;
}

TEST(ReedSolomonMatrix, AllSquarePartsOfFortyRowsAreInvertible) {
  size_t seen = 0;
  EXPECT_EQ(singular_parts(coefficient, 40, seen), 0U);
  EXPECT_EQ(seen, 4U * 40 + 6U * 780 + 4U * 9880 + 91390);
}

// The textbook's matrix of powers is not good for four parities: the same search finds it out.
TEST(ReedSolomonMatrix, TheSearchFindsSingularParts) {
  const matrix powers = [](size_t parity, size_t row) {
    return galois::logs.power[parity * row % galois::order];
  };
  size_t seen = 0;
  EXPECT_GT(singular_parts(powers, 40, seen), 0U);
}

TEST(ReedSolomonMatrix, RandomSquarePartsOfAllRowsAreInvertible) {
  SCUTE_RANDOM(random);
  for (int i = 0; i < 100000; ++i) {
    const auto k = static_cast<size_t>(random.between(1, parities_max));
    std::vector<size_t> rows;
    while (rows.size() < k) {
      const auto row = static_cast<size_t>(random.between(0, rows_max - 1));
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    std::vector<size_t> parities = {0, 1, 2, 3};
    while (parities.size() > k) {
      parities.erase(parities.begin() +
                     static_cast<ptrdiff_t>(random.between(0, parities.size() - 1)));
    }
    ASSERT_NE(determinant(coefficient, parities, rows), 0);
  }
}

// ---- columns ------------------------------------------------------------------------------------

// The rows of a column and their parities, in memory of their own.
struct column {
  column(random_source& random, size_t row_count, size_t parity_count, size_t size)
      : n(size), parity(parity_count, bytes(size)) {
    for (size_t r = 0; r < row_count; ++r) row.push_back(random.bytes(n));
    encode();
  }

  // Parities, or syndromes, of the rows that are not lost.
  void sums(std::vector<bytes>& out, const std::vector<bool>& lost) const {
    std::vector<const void*> rows;
    std::vector<uint16_t> numbers;
    for (size_t r = 0; r < row.size(); ++r) {
      if (!lost[r]) {
        rows.push_back(row[r].data());
        numbers.push_back(static_cast<uint16_t>(r));
      }
    }
    const std::vector<std::byte*> ranges = writable(out);
    reed_solomon::syndromes(ranges, rows.data(), numbers.data(), rows.size(), n);
  }

  void encode() { sums(parity, std::vector<bool>(row.size())); }

  static std::vector<std::byte*> writable(std::vector<bytes>& ranges) {
    std::vector<std::byte*> out;
    for (bytes& b : ranges) out.push_back(reinterpret_cast<std::byte*>(b.data()));
    return out;
  }

  // The lost rows are overwritten first, so that solve() cannot use their bytes.
  void lose(random_source& random, const std::vector<bool>& lost_row,
            const std::vector<bool>& lost_parity) {
    for (size_t r = 0; r < row.size(); ++r) {
      if (lost_row[r]) random.fill(row[r].data(), n);
    }
    for (size_t p = 0; p < parity.size(); ++p) {
      if (lost_parity[p]) random.fill(parity[p].data(), n);
    }
  }

  // False if solve() refuses. `extra` turns the choice of the parities.
  bool rebuild(const std::vector<bool>& lost_row, const std::vector<bool>& lost_parity,
               size_t extra, bool in_place) {
    std::vector<uint16_t> lost;
    for (size_t r = 0; r < row.size(); ++r) {
      if (lost_row[r]) lost.push_back(static_cast<uint16_t>(r));
    }
    std::vector<uint8_t> trusted;
    for (size_t i = 0; i < parity.size(); ++i) {
      const size_t p = (i + extra) % parity.size();
      if (!lost_parity[p]) trusted.push_back(static_cast<uint8_t>(p));
    }
    trusted.resize(lost.size());

    erasure_solution solution;
    if (!reed_solomon::solve(lost, trusted, solution)) return false;
    std::vector<bytes> all(parity.size(), bytes(n));
    sums(all, lost_row);
    std::vector<bytes> syndrome;
    for (const uint8_t p : trusted) {
      xor_into(all[p].data(), parity[p].data(), n);
      syndrome.push_back(all[p]);
    }
    std::vector<std::byte*> from = writable(syndrome);
    std::vector<std::byte*> to;
    for (const uint16_t r : lost) to.push_back(reinterpret_cast<std::byte*>(row[r].data()));
    const std::vector<const std::byte*> sources(from.begin(), from.end());
    reed_solomon::decode_rows(solution, sources, in_place ? from : to, n);
    if (in_place) {
      for (size_t i = 0; i < lost.size(); ++i) row[lost[i]] = syndrome[i];
    }
    encode();
    return true;
  }

  size_t n;
  std::vector<bytes> row;
  std::vector<bytes> parity;
};

// All sets of as many losses as there are parities, or fewer.
TEST(ReedSolomon, EverythingThatMayBeLostComesBack) {
  SCUTE_RANDOM(random);
  for (size_t parities = 1; parities <= parities_max; ++parities) {
    for (const size_t rows : {1UL, 2UL, 5UL, 9UL}) {
      const size_t n = random.length(200) + 1;
      const column original(random, rows, parities, n);
      for (unsigned set = 0; set < 1U << (rows + parities); ++set) {
        if (static_cast<size_t>(std::popcount(set)) > parities) continue;
        std::vector<bool> lost_row(rows);
        std::vector<bool> lost_parity(parities);
        for (size_t r = 0; r < rows; ++r) lost_row[r] = (set >> r & 1) != 0;
        for (size_t p = 0; p < parities; ++p) lost_parity[p] = (set >> (rows + p) & 1) != 0;
        column damaged = original;
        damaged.lose(random, lost_row, lost_parity);
        ASSERT_TRUE(damaged.rebuild(lost_row, lost_parity, set % parities, set % 2 != 0));
        ASSERT_EQ(damaged.row, original.row) << rows << "+" << parities << ", losses " << set;
        ASSERT_EQ(damaged.parity, original.parity) << rows << "+" << parities << ", " << set;
      }
    }
  }
}

TEST(ReedSolomon, TheLongestColumn) {
  SCUTE_RANDOM(random);
  const column original(random, rows_max, parities_max, 300);
  for (int i = 0; i < 50; ++i) {
    std::vector<bool> lost_row(rows_max);
    std::vector<bool> lost_parity(parities_max);
    for (size_t k = 0; k < parities_max; ++k) {
      const auto place = static_cast<size_t>(random.between(0, rows_max + parities_max - 1));
      place < rows_max ? lost_row[place] = true : lost_parity[place - rows_max] = true;
    }
    column damaged = original;
    damaged.lose(random, lost_row, lost_parity);
    ASSERT_TRUE(damaged.rebuild(lost_row, lost_parity, 0, i % 2 != 0));
    ASSERT_EQ(damaged.row, original.row);
    ASSERT_EQ(damaged.parity, original.parity);
  }
}

TEST(ReedSolomon, OneParityIsXorAndFewerAreTheFirstOfMore) {
  SCUTE_RANDOM(random);
  for (const size_t rows : {1UL, 7UL, 251UL}) {
    column c(random, rows, parities_max, 777);
    bytes plain(c.n);
    for (const bytes& r : c.row) xor_into(plain.data(), r.data(), c.n);
    ASSERT_EQ(c.parity[0], plain);
    for (size_t parities = 1; parities < parities_max; ++parities) {
      std::vector<bytes> fewer(parities, bytes(c.n));
      c.sums(fewer, std::vector<bool>(rows));
      for (size_t p = 0; p < parities; ++p) ASSERT_EQ(fewer[p], c.parity[p]);
    }
  }
}

TEST(ReedSolomon, SyndromesAreTheirDefinition) {
  SCUTE_RANDOM(random);
  for (size_t k = 0; k < 200; ++k) {
    const size_t n = random.length(600);
    const auto count = static_cast<size_t>(random.between(0, 12));
    const auto parities = static_cast<size_t>(random.between(1, parities_max));
    std::vector<uint16_t> numbers(rows_max);
    std::iota(numbers.begin(), numbers.end(), uint16_t{0});
    std::vector<bytes> row;
    std::vector<const void*> rows;
    for (size_t i = 0; i < count; ++i) {
      std::swap(numbers[i], numbers[static_cast<size_t>(random.between(i, rows_max - 1))]);
      row.push_back(random.bytes(n));
    }
    for (const bytes& r : row) rows.push_back(r.data());
    std::vector<bytes> out(parities, random.bytes(n));
    std::vector<bytes> expected(parities, bytes(n));
    for (size_t p = 0; p < parities; ++p) {
      for (size_t i = 0; i < count; ++i) {
        for (size_t b = 0; b < n; ++b) {
          expected[p][b] ^= multiply(coefficient(p, numbers[i]), row[i][b]);
        }
      }
    }
    const std::vector<std::byte*> ranges = column::writable(out);
    reed_solomon::syndromes(ranges, rows.data(), numbers.data(), count, n);
    ASSERT_EQ(out, expected) << count << " rows of " << n << ", " << parities << " parities";
  }
}

TEST(ReedSolomon, AChangeOfARowUpdatesTheParities) {
  SCUTE_RANDOM(random);
  for (int k = 0; k < 200; ++k) {
    const size_t n = random.length(500) + 1;
    column c(random, static_cast<size_t>(random.between(1, 60)), parities_max, n);
    for (int change = 0; change < 4; ++change) {
      const auto r = static_cast<size_t>(random.between(0, c.row.size() - 1));
      const auto at = static_cast<size_t>(random.between(0, n - 1));
      const auto length = static_cast<size_t>(random.between(0, n - at));
      const bytes after = random.bytes(length);
      bytes delta(length);
      xor_delta(delta.data(), &c.row[r][at], after.data(), length);
      std::copy(after.begin(), after.end(), &c.row[r][at]);
      for (size_t p = 0; p < parities_max; ++p) {
        galois::multiply_into(&c.parity[p][at], delta.data(), coefficient(p, r), length);
      }
    }
    const std::vector<bytes> updated = c.parity;
    c.encode();
    ASSERT_EQ(updated, c.parity);
  }
}

// ---- solving ------------------------------------------------------------------------------------

bool solves(const std::vector<uint16_t>& rows, const std::vector<uint8_t>& parities) {
  erasure_solution s;
  s.k = 77;
  const bool solved = reed_solomon::solve(rows, parities, s);
  EXPECT_EQ(s.k, solved ? rows.size() : 77);
  return solved;
}

TEST(ReedSolomonSolve, RefusesWhatHasNoSolution) {
  EXPECT_TRUE(solves({}, {}));
  EXPECT_TRUE(solves({250}, {3}));
  EXPECT_TRUE(solves({250, 0, 7, 8}, {3, 0, 2, 1}));
  EXPECT_FALSE(solves({1}, {}));
  EXPECT_FALSE(solves({}, {0}));
  EXPECT_FALSE(solves({1, 2}, {0}));
  EXPECT_FALSE(solves({251}, {0}));
  EXPECT_FALSE(solves({65535}, {0}));
  EXPECT_FALSE(solves({0}, {4}));
  EXPECT_FALSE(solves({1, 1}, {0, 1}));
  EXPECT_FALSE(solves({1, 2, 1}, {0, 1, 2}));
  EXPECT_FALSE(solves({1, 2}, {3, 3}));
  EXPECT_FALSE(solves({1, 2, 3, 4, 5}, {0, 1, 2, 3, 0}));
}

TEST(ReedSolomonSolve, SolutionTimesCoefficientsIsTheIdentity) {
  SCUTE_RANDOM(random);
  for (int k = 0; k < 5000; ++k) {
    std::vector<uint8_t> parities = {0, 1, 2, 3};
    std::vector<uint16_t> rows;
    const auto count = static_cast<size_t>(random.between(1, parities_max));
    for (size_t i = 0; i < count; ++i) {
      std::swap(parities[i], parities[static_cast<size_t>(random.between(i, 3))]);
      rows.push_back(static_cast<uint16_t>(60 * i + random.between(0, 59)));
    }
    parities.resize(count);
    erasure_solution s;
    ASSERT_TRUE(reed_solomon::solve(rows, parities, s));
    for (size_t i = 0; i < parities_max; ++i) {
      for (size_t l = 0; l < count; ++l) {
        unsigned sum = 0;
        for (size_t j = 0; j < count; ++j) {
          sum ^= multiply(s.coefficient[i][j], coefficient(parities[j], rows[l]));
        }
        ASSERT_EQ(sum, i == l ? 1U : 0U);
      }
      for (size_t j = count; j < parities_max; ++j) ASSERT_EQ(s.coefficient[i][j], 0);
    }
  }
}

TEST(ReedSolomonSolve, NothingLostIsRecovered) {
  reed_solomon::decode_rows(erasure_solution{}, {}, {}, 100);
}

}  // namespace
}  // namespace scute::core::codec

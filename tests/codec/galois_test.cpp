// SPDX-License-Identifier: BSD-3-Clause
#include "codec/parity/galois.hpp"

#include <gtest/gtest.h>
#include <isa-l/erasure_code.h>

#include <algorithm>
#include <memory>

#include "codec/parity/galois_table.hpp"
#include "codec/parity/parity.hpp"
#include "guarded_buffer.hpp"
#include "seeded.hpp"

namespace scute::core::codec {
namespace {

using galois::weights;
using test::guarded_buffer;
using test::random_source;

using bytes = std::vector<unsigned char>;

// The definition, bit by bit.
uint8_t reference(unsigned a, unsigned b) {
  unsigned product = 0;
  for (unsigned bit = 0; bit < 8; ++bit) {
    if ((b >> bit & 1) != 0) product ^= a << bit;
  }
  for (unsigned bit = 15; bit >= 8; --bit) {
    if ((product >> bit & 1) != 0) product ^= 0x11DU << (bit - 8);
  }
  return static_cast<uint8_t>(product);
}

bytes product(const unsigned char* src, uint8_t c, size_t n) {
  bytes out(n);
  for (size_t i = 0; i < n; ++i) out[i] = reference(src[i], c);
  return out;
}

uint8_t element(random_source& random) {
  return static_cast<uint8_t>(random.between(0, 255));
}

// ---- elements -----------------------------------------------------------------------------------

TEST(GaloisElement, ProductsAreThoseOfTheDefinitionAndOfIsal) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const auto x = static_cast<uint8_t>(a);
      const auto y = static_cast<uint8_t>(b);
      ASSERT_EQ(galois::multiply(x, y), reference(a, b)) << a << " * " << b;
      ASSERT_EQ(galois::multiply(x, y), gf_mul(x, y)) << a << " * " << b;
    }
  }
}

TEST(GaloisElement, Axioms) {
  uint8_t table[256][256];
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      table[a][b] = galois::multiply(static_cast<uint8_t>(a), static_cast<uint8_t>(b));
    }
  }
  size_t broken = 0;
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      broken += table[a][b] != table[b][a];
      broken += a != 0 && b != 0 && table[a][b] == 0;
      for (unsigned c = 0; c < 256; ++c) {
        broken += table[table[a][b]][c] != table[a][table[b][c]];
        broken += table[a][b ^ c] != (table[a][b] ^ table[a][c]);
      }
    }
  }
  EXPECT_EQ(broken, 0U);
}

TEST(GaloisElement, Inverse) {
  EXPECT_EQ(galois::inverse(0), 0);
  for (unsigned a = 1; a < 256; ++a) {
    const auto x = static_cast<uint8_t>(a);
    ASSERT_EQ(galois::multiply(x, galois::inverse(x)), 1) << a;
    ASSERT_EQ(galois::inverse(galois::inverse(x)), x) << a;
    ASSERT_EQ(galois::multiply(x, 1), x);
  }
}

// ---- kernels ------------------------------------------------------------------------------------

class Galois : public ::testing::TestWithParam<const galois_table*> {
 protected:
  static constexpr size_t room = 400;
  static constexpr size_t alignments = 64;

  // dst = c * src and dst ^= c * src for `n` bytes, against the definition; the ranges lie `away`
  // bytes from an end of their memory.
  void one_row(random_source& random, size_t n, size_t dst_away, size_t src_away, uint8_t c) {
    const bool end = random.between(0, 1) != 0;
    unsigned char* dst = end ? to_.at_end(n + dst_away) : to_.at_begin() + dst_away;
    unsigned char* src = end ? from_.at_end(n + src_away) : from_.at_begin() + src_away;
    random.fill(dst, n);
    random.fill(src, n);
    const bytes old(dst, dst + n);
    const bytes original(src, src + n);
    bytes expected = product(src, c, n);

    GetParam()->multiply(dst, src, c, n);
    ASSERT_EQ(bytes(dst, dst + n), expected);
    std::copy(old.begin(), old.end(), dst);
    for (size_t i = 0; i < n; ++i) expected[i] ^= old[i];
    GetParam()->multiply_into(dst, src, c, n);
    ASSERT_EQ(bytes(dst, dst + n), expected);
    ASSERT_EQ(bytes(src, src + n), original);
    ASSERT_TRUE(to_.intact_outside(dst, n) && from_.intact_outside(src, n));
  }

  guarded_buffer to_{room};
  guarded_buffer from_{room};
};

TEST_P(Galois, AllLengthsAndAlignments) {
  SCUTE_RANDOM(random);
  for (size_t n = 0; n <= 300; ++n) {
    for (size_t away = 0; away < alignments; ++away) {
      const auto other = static_cast<size_t>(random.between(0, alignments - 1));
      const bool turn = random.between(0, 1) != 0;
      const auto c = element(random);
      ASSERT_NO_FATAL_FAILURE(one_row(random, n, turn ? away : other, turn ? other : away, c))
          << n << " bytes, " << away << " away, times " << unsigned{c};
    }
  }
}

TEST_P(Galois, AllCoefficientsAndElements) {
  bytes all(256);
  for (size_t i = 0; i < 256; ++i) all[i] = static_cast<unsigned char>(i);
  for (unsigned c = 0; c < 256; ++c) {
    const auto coefficient = static_cast<uint8_t>(c);
    const bytes expected = product(all.data(), coefficient, 256);
    bytes out(256);
    GetParam()->multiply(out.data(), all.data(), coefficient, 256);
    ASSERT_EQ(out, expected) << c;
    // The same in the steps of the last bytes, which may use other instructions.
    for (size_t i = 0; i < 256; ++i) {
      GetParam()->multiply(&out[i], &all[i], coefficient, 1);
    }
    ASSERT_EQ(out, expected) << c;
  }
}

TEST_P(Galois, InPlace) {
  SCUTE_RANDOM(random);
  for (size_t n = 0; n <= 300; ++n) {
    const auto c = element(random);
    bytes data = random.bytes(n);
    const bytes expected = product(data.data(), c, n);
    const bytes sum = product(data.data(), c ^ 1, n);
    bytes copy = data;
    GetParam()->multiply(data.data(), data.data(), c, n);
    ASSERT_EQ(data, expected) << n;
    GetParam()->multiply_into(copy.data(), copy.data(), c, n);
    ASSERT_EQ(copy, sum) << n;
  }
}

// Rows and sums each in guarded memory of their own; some sums take the place of a row.
TEST_P(Galois, Combine) {
  SCUTE_RANDOM(random);
  constexpr size_t n_max = 5000;
  constexpr size_t places = 12;
  std::vector<std::unique_ptr<guarded_buffer>> memory;
  for (size_t i = 0; i < places; ++i) {
    memory.push_back(std::make_unique<guarded_buffer>(n_max + alignments));
  }
  for (size_t k = 0; k < 1200; ++k) {
    const size_t n = k <= 300 ? k : random.length(n_max);
    const auto sums = static_cast<size_t>(random.between(1, galois::sums_max));
    const auto row_count = static_cast<size_t>(random.between(1, places - sums));
    std::vector<unsigned char*> range;
    std::vector<bytes> content;
    for (const auto& m : memory) {
      const auto away =
          static_cast<size_t>(random.between(0, 1) * random.between(0, alignments - 1));
      range.push_back(random.between(0, 1) != 0 ? m->at_end(n + away) : m->at_begin() + away);
      random.fill(range.back(), n);
      content.emplace_back(range.back(), range.back() + n);
    }
    // Sums have the places from 0 on, rows the places after them.
    std::vector<void*> out(range.begin(), range.begin() + static_cast<ptrdiff_t>(sums));
    std::vector<size_t> out_place(sums);
    for (size_t s = 0; s < sums; ++s) {
      out_place[s] = s < row_count && random.between(0, 3) == 0 ? sums + s : s;
      out[s] = range[out_place[s]];
    }
    std::vector<const void*> rows(range.begin() + static_cast<ptrdiff_t>(sums),
                                  range.begin() + static_cast<ptrdiff_t>(sums + row_count));
    std::vector<weights> weight(row_count);
    for (auto& w : weight) {
      for (auto& c : w) c = random.between(0, 3) == 0 ? random.between(0, 1) : element(random);
    }
    GetParam()->combine(out.data(), sums, rows.data(), weight.data(), row_count, n);

    std::vector<bytes> expected = content;
    for (size_t s = 0; s < sums; ++s) {
      bytes& sum = expected[out_place[s]];
      sum.assign(n, 0);
      for (size_t r = 0; r < row_count; ++r) {
        for (size_t i = 0; i < n; ++i) {
          sum[i] ^= galois::multiply(content[sums + r][i], weight[r][s]);
        }
      }
    }
    for (size_t p = 0; p < places; ++p) {
      ASSERT_EQ(bytes(range[p], range[p] + n), expected[p])
          << sums << " sums of " << row_count << " rows of " << n << ", place " << p;
      ASSERT_TRUE(memory[p]->intact_outside(range[p], n));
    }
  }
}

TEST_P(Galois, CombineManyRowsEqualsIsal) {
  SCUTE_RANDOM(random);
  for (const size_t count : {17UL, 100UL, 251UL}) {
    const size_t n = 3000 + random.length(2000);
    std::vector<bytes> row;
    std::vector<unsigned char*> rows;
    std::vector<weights> weight(count);
    for (size_t r = 0; r < count; ++r) {
      row.push_back(random.bytes(n));
      rows.push_back(row.back().data());
    }
    for (size_t sums = 1; sums <= galois::sums_max; ++sums) {
      bytes matrix(sums * count);
      for (size_t r = 0; r < count; ++r) {
        for (size_t s = 0; s < sums; ++s) {
          weight[r][s] = matrix[s * count + r] = element(random);
        }
      }
      bytes tables(32 * sums * count);
      std::vector<bytes> expected(sums, bytes(n));
      std::vector<bytes> sum(sums, bytes(n));
      std::vector<unsigned char*> isal_out;
      std::vector<void*> out;
      for (size_t s = 0; s < sums; ++s) {
        isal_out.push_back(expected[s].data());
        out.push_back(sum[s].data());
      }
      ec_init_tables(static_cast<int>(count), static_cast<int>(sums), matrix.data(), tables.data());
      ec_encode_data(static_cast<int>(n), static_cast<int>(count), static_cast<int>(sums),
                     tables.data(), rows.data(), isal_out.data());
      const std::vector<const void*> sources(rows.begin(), rows.end());
      GetParam()->combine(out.data(), sums, sources.data(), weight.data(), count, n);
      ASSERT_EQ(sum, expected) << sums << " sums of " << count << " rows of " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Galois, ::testing::ValuesIn(galois_variants()),
                         [](const auto& instance) { return std::string(instance.param->name); });

// ---- interface ----------------------------------------------------------------------------------

TEST(GaloisInterface, EveryCoefficient) {
  SCUTE_RANDOM(random);
  for (unsigned c = 0; c < 256; ++c) {
    const auto coefficient = static_cast<uint8_t>(c);
    const size_t n = random.length(700);
    const bytes src = random.bytes(n);
    const bytes old = random.bytes(n);
    const bytes expected = product(src.data(), coefficient, n);
    bytes dst = old;
    galois::multiply(dst.data(), src.data(), coefficient, n);
    ASSERT_EQ(dst, expected) << c;
    dst = src;
    galois::multiply(dst.data(), dst.data(), coefficient, n);
    ASSERT_EQ(dst, expected) << c;
    dst = old;
    galois::multiply_into(dst.data(), src.data(), coefficient, n);
    xor_into(dst.data(), old.data(), n);
    ASSERT_EQ(dst, expected) << c;
  }
}

TEST(GaloisInterface, NothingToDo) {
  for (const uint8_t c : {0, 1, 2}) {
    galois::multiply(nullptr, nullptr, c, 0);
    galois::multiply_into(nullptr, nullptr, c, 0);
  }
  galois::combine(nullptr, 0, nullptr, nullptr, 0, 5);
  unsigned char sum[] = {1, 2, 3};
  void* const out[] = {sum};
  galois::combine(out, 1, nullptr, nullptr, 0, 0);
  EXPECT_EQ(sum[0], 1);
  galois::combine(out, 1, nullptr, nullptr, 0, 2);
  EXPECT_EQ(sum[0] | sum[1], 0);
  EXPECT_EQ(sum[2], 3);
}

}  // namespace
}  // namespace scute::core::codec

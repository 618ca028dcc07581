// SPDX-License-Identifier: BSD-3-Clause
// Rings through further fragments of objects that are freed, or whose first header is torn or
// damaged, before the ring's parity is durable. Only the chunk headers and the fragments
// themselves identify such members then (core/repair/page_layout.hpp, LAYOUT-2).
#include <gtest/gtest.h>

#include <functional>

#include "scrub/crash_image.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

struct part_kind {
  uint64_t size;   // of the object that is freed
  uint32_t chunk;  // of the pool
};

class parts : public testing::TestWithParam<part_kind> {
 protected:
  parts() : f(4 * mib, SCUTE_CHECKSUM_CRC32C, 1, GetParam().chunk) {}
  // One: edits further fragments of `large`, and two other objects.
  void SetUp() override {
    for (uint64_t i = 0; i < 2; ++i) {
      others.push_back(f.add(pattern(i, 500)));
      for (uint64_t k = 0; k < 8; ++k) f.add(pattern(k, 500));
    }
    large = f.add(pattern(9, GetParam().size));
    start = f.file();
    f.cut([&](scute_tx* tx, auto& after) {
      write(tx, after, large, 5000, 300);
      if (GetParam().size > 13000) write(tx, after, large, 12300, 40);
      for (const scute_oid oid : others) write(tx, after, oid, 7, 400);
    });
    f.before = f.after;
    first = f.data;
    first_parity = f.parity;
    first_file = f.new_file;
  }
  static void write(scute_tx* tx, std::map<scute_oid, bytes>& after, scute_oid oid, uint64_t at,
                    size_t n) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, oid, at, n, &p));
    const bytes fresh = pattern(1000 + at + n, n);
    std::copy(fresh.begin(), fresh.end(), static_cast<unsigned char*>(p));
    std::copy(fresh.begin(), fresh.end(), after[oid].begin() + static_cast<long>(at));
  }
  static void take(bytes& to, const bytes& from, const std::vector<uint64_t>& words) {
    for (const uint64_t at : words)
      std::copy_n(from.begin() + static_cast<long>(at), 8, to.begin() + static_cast<long>(at));
  }
  // Words of the parity that belong to the columns of the large object.
  std::vector<uint64_t> parity_of_large() const {
    const auto [header, length] = f.places.at(large);
    std::vector<uint64_t> words;
    for (const uint64_t at : first_parity) {
      const uint64_t column = (at - f.g.zones_offset) % f.g.row_size;
      for (uint64_t x = header & ~uint64_t{7}; x < header + length; x += 8)
        if ((x - f.g.zones_offset) % f.g.row_size == column) {
          words.push_back(at);
          break;
        }
    }
    return words;
  }
  // The next session, after a crash that left of the first transaction all data, and the parity of
  // the large object alone.
  void begin_session() {
    bytes image = start;
    take(image, first_file, first);
    const auto there = parity_of_large();
    ASSERT_LT(there.size(), first_parity.size());
    take(image, first_file, there);
    f.load(image);
    ASSERT_GT(f.info().unresolved, 0u);
  }
  // And a crash at its end, with nothing else resolved.
  void end_session() {
    f.load(f.file());
    f.expect_sound_with(f.before);
  }

  crash_image f;
  std::vector<scute_oid> others;
  scute_oid large = 0;
  bytes start, first_file;
  std::vector<uint64_t> first, first_parity;  // words that the transaction changed
};

TEST_P(parts, FreedByTheLanesNextTransaction) {
  SCUTE_RANDOM(random);
  f.cut([&](scute_tx* tx, auto& after) {
    SCUTE_OKAY(scute_tx_free(tx, large));
    after.erase(large);
  });
  const auto header = f.data;
  for (int round = 0; round < 24; ++round) {
    bytes image = start;
    take(image, first_file, first);
    std::vector<uint64_t> there;
    for (const uint64_t at : header)
      if (round % 3 == 0 || random.one_in(2)) there.push_back(at);
    take(image, f.new_file, there);
    const uint64_t density = random.between(0, 8);
    std::vector<uint64_t> parity;
    for (const uint64_t at : first_parity)
      if (random.between(1, 10) <= density) parity.push_back(at);
    take(image, first_file, parity);
    SCOPED_TRACE("round " + std::to_string(round));
    f.load(image);
    const auto& wanted = there.size() == header.size() ? f.after : f.before;
    if (round % 2 == 0) f.expect(wanted);
    f.expect_sound_with(wanted);
    if (HasFailure()) return;
  }
}

// Its first header is not what the ring rests on.
TEST_P(parts, ItsFirstHeaderIsDamaged) {
  bytes image = start;
  take(image, first_file, first);
  const auto header = f.places.at(large).first;
  for (uint64_t i = 0; i < format::header_size; ++i) image[header + i] ^= 0x5a;
  f.load(image);
  f.expect_sound_with(f.before);
}

// LF-7, RES-5.
TEST_P(parts, FreedInTheNextSession) {
  begin_session();
  ASSERT_EQ(SCUTE_OK, f.free(large));
  f.before.erase(large);
  end_session();
}

// Its headers and payload are staged over those of the freed one.
TEST_P(parts, AnotherOneIsPrewrittenInItsPlace) {
  begin_session();
  ASSERT_EQ(SCUTE_OK, f.free(large));
  f.before.erase(large);
  for (uint64_t i = 0; i < 20; ++i) {
    const bytes content = pattern(50 + i, 16384 + 100 * i);
    const scute_oid oid = f.alloc(content);
    ASSERT_NE(oid, 0u);
    f.before[oid] = content;
  }
  end_session();
}

TEST_P(parts, ItsChunkGetsAnotherUse) {
  begin_session();
  ASSERT_EQ(SCUTE_OK, f.free(large));
  f.before.erase(large);
  for (uint64_t i = 0; i < 400; ++i) {
    const bytes content = pattern(50 + i, 1700);
    const scute_oid oid = f.alloc(content);
    ASSERT_NE(oid, 0u);
    f.before[oid] = content;
  }
  end_session();
}

// A slot of a run, a chunk, several chunks, and a slot so large that what takes it next is staged.
INSTANTIATE_TEST_SUITE_P(Size, parts,
                         testing::Values(part_kind{7000, 16384}, part_kind{15000, 16384},
                                         part_kind{40000, 16384}, part_kind{20000, 65536}),
                         [](const auto& p) { return std::to_string(p.param.size); });

}  // namespace
}  // namespace scute::test

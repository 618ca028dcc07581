// SPDX-License-Identifier: BSD-3-Clause
// Pages that are overwritten, not lost: only checksums show which. As many of a column
// block as there are parities come back, wherever they lie: in headers, in the zone's structures,
// in free space, in the parity; with one more nothing wrong is read.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "core/repair/erasure/erasure_search.hpp"
#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

class overwritten : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    scute_options o = options(2 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, GetParam()});
    o.rows = 8;
    f.create(o);
    // Full, except for every sixth object, which is freed.
    std::vector<scute_oid> dropped;
    for (const size_t n : {70000, 12000, 9000, 4097, 2000, 500, 40})
      for (uint64_t k = 0;; ++k) {
        const bytes content = pattern(n + k, n);
        scute_tx* tx = nullptr;
        scute_oid oid = 0;
        void* to = nullptr;
        SCUTE_OKAY(scute_tx_begin(f, &tx));
        if (scute_tx_alloc(tx, n, 1, &oid, &to) != SCUTE_OK || (k == 60 && n > 40)) {
          scute_tx_abort(tx);
          break;
        }
        std::memcpy(to, content.data(), n);
        SCUTE_OKAY(scute_tx_commit(tx));
        if (k % 6 == 5)
          dropped.push_back(oid);
        else
          f.objects[oid] = content;
      }
    for (const scute_oid oid : dropped) ASSERT_EQ(SCUTE_OK, f.free(oid));
    SCUTE_OKAY(scute_drain(f));
    const auto& g = f.in().s.geo;
    rows = g.rows;
    row_size = g.row_size;
    zone = g.zone_offset(0);
  }

  uint64_t blocks() const { return row_size / page; }
  uint64_t below(uint64_t n) { return random.between(0, n - 1); }
  // Different rows, or parities; the first one as given.
  std::vector<uint64_t> draw(size_t count, uint64_t first = UINT64_MAX) {
    std::vector<uint64_t> drawn;
    if (first < rows) drawn.push_back(first);
    while (drawn.size() < count) {
      const uint64_t row = below(rows + GetParam());
      if (std::find(drawn.begin(), drawn.end(), row) == drawn.end()) drawn.push_back(row);
    }
    return drawn;
  }
  bytes noise(uint64_t n) { return pattern(random.word(), n); }
  void overwrite_open(uint64_t row, uint64_t block) {
    std::memcpy(f.raw(zone + row * row_size + block * page), noise(page).data(), page);
  }
  void overwrite_closed(uint64_t row, uint64_t from, uint64_t n) {
    const int fd = ::open(f.path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    const auto at = static_cast<off_t>(zone + row * row_size + from);
    EXPECT_EQ(pwrite(fd, noise(n).data(), n, at), static_cast<ssize_t>(n));
    ::close(fd);
  }

  known_pool f;
  random_source random{test_seed()};
  uint64_t rows = 0, row_size = 0, zone = 0;
};

// ERASE-2.
TEST_P(overwritten, PagesOfAnOpenPool) {
  for (int trial = 0; trial < 12 && !HasFailure(); ++trial) {
    // Not the structures: what memory has of them would not be asked for.
    const uint64_t block = 2 + below(blocks() - 2);
    for (const uint64_t row : draw(GetParam())) overwrite_open(row, block);
    f.expect_objects();
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
  }
}

// ERASE-2, ERASE-5.
TEST_P(overwritten, PagesOfEveryColumnOfAClosedPool) {
  for (int trial = 0; trial < 3 && !HasFailure(); ++trial) {
    f.close();
    // Four of twelve pages everywhere leave fragments with more combinations than are tried.
    for (uint64_t block = 0; block < blocks(); block += GetParam() == 4 ? 2 : 1)
      for (const uint64_t row : draw(GetParam())) overwrite_closed(row, block * page, page);
    f.open();
    f.expect_all_repaired();
  }
}

TEST_P(overwritten, WholeRows) {
  for (int trial = 0; trial < 6 && !HasFailure(); ++trial) {
    f.close();
    for (const uint64_t row : draw(GetParam(), trial == 0 ? 0 : UINT64_MAX))
      overwrite_closed(row, 0, row_size);
    f.open(trial % 2 == 0 ? 0 : SCUTE_READONLY);
    for (const auto& [oid, content] : f.objects) EXPECT_TRUE(f.read(oid) == content);
    f.reopen();
    f.expect_all_repaired();
  }
}

// ERASE-3.
TEST_P(overwritten, HeadersOfTheZoneAndOfChunks) {
  for (uint64_t trial = 0; trial < 6 && !HasFailure(); ++trial) {
    f.close();
    for (const uint64_t row : draw(GetParam(), 0)) overwrite_closed(row, trial % 2 * page, page);
    f.open();
    f.expect_all_repaired();
  }
}

// Damage that begins and ends anywhere. (ERASE-1)
TEST_P(overwritten, ScribblesInOneColumn) {
  for (int trial = 0; trial < 8 && !HasFailure(); ++trial) {
    f.close();
    const uint64_t from = below(row_size - 9000), n = 1 + below(8000);
    for (const uint64_t row : draw(GetParam())) overwrite_closed(row, from + below(300), n);
    f.open();
    f.expect_all_repaired();
  }
}

// DECODE-3, REPAIR-1.
TEST_P(overwritten, OneMoreIsReportedAndNotGuessed) {
  f.close();
  // Some of the pages hold nothing that is alive; not all of so many.
  for (uint64_t block = 2 + below(2); block < blocks(); block += 2)
    for (const uint64_t row : draw(GetParam() + 1)) overwrite_closed(row, block * page, page);
  f.open();
  uint64_t lost = 0;
  for (const auto& [oid, content] : f.objects) {
    const void* p = nullptr;
    const int e = scute_get_verified(f, oid, &p);
    if (e == SCUTE_OK)
      EXPECT_EQ(0, std::memcmp(p, content.data(), content.size()));
    else
      ++lost;
    EXPECT_TRUE(e == SCUTE_OK || e == SCUTE_E_CORRUPT) << scute_errorname(e);
  }
  EXPECT_NE(lost, 0u);
}

// ERASE-4: what is beyond repair costs no more checksums than were counted on.
TEST_P(overwritten, TheSearchIsBounded) {
  if (GetParam() == 1) return;
  pool::state& in = f.in().s;
  uint64_t most = 0;
  for (int trial = 0; trial < 4; ++trial) {
    const uint64_t block = 2 + below(blocks() - 2);
    for (const uint64_t row : draw(GetParam() + 2)) overwrite_open(row, block);
  }
  for (const auto& [oid, content] : f.objects) {
    const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
    for (uint64_t i = 0; i * format::fragment_payload < content.size(); ++i) {
      if (pool::valid(in, o.fragment(i))) continue;
      repair::erasure_search search(in, o.fragment(i), nullptr);
      std::vector<std::byte> image;
      EXPECT_FALSE(search.find(image));
      most = std::max(most, search.attempts());
    }
  }
  EXPECT_NE(most, 0u);
  EXPECT_LE(most, repair::erasure_search::attempts_max);
}

INSTANTIATE_TEST_SUITE_P(Parities, overwritten, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace scute::test

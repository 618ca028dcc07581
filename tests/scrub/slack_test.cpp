// SPDX-License-Identifier: BSD-3-Clause
// Several parities: a column in which a killed transaction has one cell open, and in which another
// cell is damaged besides, has no more unknowns than parities. So the transaction has happened as a
// whole or not at all, and everything else is there (docs/internals/logfree.md, "Slack").
#include <gtest/gtest.h>

#include <algorithm>

#include "scrub/crash_image.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

class slack : public testing::TestWithParam<uint32_t> {
 protected:
  slack() : f(4 * mib, SCUTE_CHECKSUM_CRC32C, GetParam()) {}

  // Objects of all sizes, and free slots between them.
  void fill(random_source& random) {
    constexpr size_t sizes[] = {40, 300, 1700, 4096, 7000, 15000, 40000, 90000};
    std::vector<scute_oid> gone;
    for (uint64_t i = 0; i < 110; ++i) {
      const size_t n = sizes[random.between(0, 7)];
      if (n > 10000 && !random.one_in(3)) continue;
      const scute_oid oid = f.alloc(pattern(i, n));
      if (oid == 0) continue;  // full
      if (random.one_in(6))
        gone.push_back(oid);
      else
        f.before[oid] = pattern(i, n);
    }
    for (const scute_oid oid : gone) EXPECT_EQ(SCUTE_OK, f.free(oid));
    f.reopen();
  }
  // Noise in one row: all of it, or 32 to 256 KiB, or a page.
  void scribble(bytes& image, random_source& random) const {
    const uint64_t row = random.between(0, f.g.rows + f.g.parity - 1);
    uint64_t from = 0, n = f.g.row_size;
    if (!random.one_in(3)) {
      n = std::min(n, random.one_in(2) ? random.between(32 * kib, 256 * kib) : 4 * kib);
      from = random.between(0, f.g.row_size - n);
    }
    for (uint64_t c = from; c < from + n; ++c)
      image[f.g.zones_offset + row * f.g.row_size + c] = static_cast<unsigned char>(random.word());
  }
  // Verified reads of everything, in some order, before recovery has come anywhere.
  std::map<scute_oid, bytes> read_all(random_source& random) {
    std::vector<scute_oid> order;
    for (const auto& [oid, content] : f.before) order.push_back(oid);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(random.word()));
    std::map<scute_oid, bytes> found;
    for (const scute_oid oid : order) {
      const void* at = nullptr;
      EXPECT_EQ(SCUTE_OK, scute_get_verified(f, oid, &at)) << scute_errormsg();
      if (HasFailure()) return found;
      const auto* b = static_cast<const unsigned char*>(at);
      found[oid] = bytes(b, b + f.before.at(oid).size());
    }
    return found;
  }

  crash_image f;
};

// Ranges of objects that share no column: one open cell in each. (DECODE-2, ERASE-7, VERSION-1)
TEST_P(slack, ATornTransactionNextToNoise) {
  SCUTE_RANDOM(random);
  fill(random);
  f.wait();
  std::vector<scute_oid> all;
  for (const auto& [oid, content] : f.before) all.push_back(oid);
  for (int round = 0; round < 20; ++round) {
    std::vector<scute_oid> members;
    std::set<uint64_t> columns;  // 64 bytes each
    for (int attempt = 0; attempt < 200 && members.size() < 3; ++attempt) {
      const scute_oid oid = all[random.between(0, all.size() - 1)];
      const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
      std::set<uint64_t> its;
      const uint64_t end = o.payload + o.room;
      for (uint64_t at = o.header & ~63ull; at < end; at += 64)
        its.insert(pool::cell_of(f.g, at).column / 64);
      if (end - o.header > f.g.row_size ||
          std::any_of(its.begin(), its.end(), [&](uint64_t c) { return columns.count(c) != 0; }))
        continue;
      columns.insert(its.begin(), its.end());
      members.push_back(oid);
    }
    ASSERT_GE(members.size(), 2u);
    f.cut([&](scute_tx* tx, std::map<scute_oid, bytes>& after) {
      for (const scute_oid oid : members) {
        bytes& content = after.at(oid);
        const uint64_t at = random.between(0, content.size() - 1);
        const size_t n = std::min<uint64_t>(random.between(1, 6000), content.size() - at);
        void* p = nullptr;
        SCUTE_OKAY(scute_tx_add_range(tx, oid, at, n, &p));
        const bytes fresh = pattern(random.word(), n);
        std::copy(fresh.begin(), fresh.end(), static_cast<unsigned char*>(p));
        std::copy(fresh.begin(), fresh.end(), content.begin() + static_cast<long>(at));
      }
    });
    // In the data phase; after it, before any parity; when all of it is done.
    std::vector<uint64_t> take;
    const uint64_t phase = random.between(0, 2), eighths = random.between(1, 7);
    for (const uint64_t at : f.data)
      if (phase != 0 || random.between(0, 7) < eighths) take.push_back(at);
    for (const uint64_t at : f.parity)
      if (phase == 2) take.push_back(at);
    bytes image = f.with(take);
    scribble(image, random);
    SCOPED_TRACE("round " + std::to_string(round) + ", phase " + std::to_string(phase));
    f.load(image);
    const auto found = read_all(random);
    if (HasFailure()) return;
    ASSERT_TRUE(found == f.before || found == f.after) << "half a transaction";
    f.wait();
    f.expect(found);
    EXPECT_EQ(f.info().lost, 0u);
    if (HasFailure()) return;
    f.load(f.old_file, 0);
    f.wait();
  }
}

// A process that is killed while it stages a large object leaves payload, and headers of parts, in
// columns whose parity is that of before.
TEST_P(slack, APrewrittenObjectNextToNoise) {
  SCUTE_RANDOM(random);
  fill(random);
  for (int round = 0; round < 10; ++round) {
    f.file();
    transaction tx(f);
    scute_oid oid = 0;
    void* p = nullptr;
    const size_t n = random.between(20000, 60000);
    SCUTE_OKAY(scute_tx_alloc(tx, n, 7, &oid, &p));
    const bytes fresh = pattern(random.word(), n);
    std::copy(fresh.begin(), fresh.end(), static_cast<unsigned char*>(p));
    const bytes begun = read_file(f.path);  // steps have been made, nothing is prewritten
    const heap::object o = f.in().heap->zones().locate(f.offset_of(oid));
    ASSERT_EQ(o.header % f.g.chunk_size, f.g.chunk_offset(0, 0) % f.g.chunk_size);
    SCUTE_OKAY(tx.commit());
    const bytes done = f.file();
    bytes image = begun;
    const uint64_t from = o.header + format::header_size;
    const uint64_t to = random.between(from + 64, o.payload + n);
    std::copy(done.begin() + static_cast<long>(from), done.begin() + static_cast<long>(to),
              image.begin() + static_cast<long>(from));
    scribble(image, random);
    SCOPED_TRACE("round " + std::to_string(round));
    f.load(image);
    const auto found = read_all(random);
    if (HasFailure()) return;
    ASSERT_TRUE(found == f.before);
    f.wait();
    f.expect(f.before);
    EXPECT_EQ(f.info().lost, 0u);
    if (HasFailure()) return;
    f.reopen();
  }
}

INSTANTIATE_TEST_SUITE_P(Parities, slack, testing::Values(2, 3, 4),
                         [](const auto& p) { return "P" + std::to_string(p.param); });

}  // namespace
}  // namespace scute::test

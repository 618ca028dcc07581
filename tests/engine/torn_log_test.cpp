// SPDX-License-Identifier: BSD-3-Clause
// Logs as a crash and bad media leave them: an entry that is decided but not applied, with one or
// both replicas torn or flipped.
#include <gtest/gtest.h>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

class torn_log : public testing::TestWithParam<pool_kind> {
 protected:
  void SetUp() override {
    scute_options o = options(mib, GetParam());
    o.lanes = 2;
    f.create(o);
    g = f.in().s.geo;
    for (uint64_t i = 0; i < 4; ++i) oids.push_back(f.alloc(pattern(i, 700)));
    // Objects that go through the log in a log-free pool: two cells of a column.
    const auto meets = [&](scute_oid oid) {
      const auto a = pool::cell_of(g, f.offset_of(oids[0])), b = pool::cell_of(g, f.offset_of(oid));
      return a.row != b.row && a.column < b.column + 700 && b.column < a.column + 700;
    };
    while (GetParam().engine == SCUTE_ENGINE_LOGFREE && !meets(oids[3]))
      ASSERT_NE(oids[3] = f.alloc(pattern(3, 700)), 0u);
  }
  // A transaction over all objects that was decided, of which nothing had reached its place: the
  // lanes are of after it, everything else is of before.
  bytes decided() {
    const bytes before = read_file(f.path);
    {
      transaction tx(f);
      for (uint64_t i = 0; i < oids.size(); ++i) {
        void* p = nullptr;
        SCUTE_OKAY_E(scute_tx_add_range(tx, oids[i], 100, 50, &p));
        std::memcpy(p, pattern(100 + i, 50).data(), 50);
      }
      SCUTE_OKAY_E(tx.commit());
    }
    if (GetParam().engine == SCUTE_ENGINE_LOGFREE) {
      EXPECT_GT(f.stats().logged, 0u);
    }
    lane = static_cast<uint32_t>(scute_thread_lane(f));
    const bytes after = read_file(f.path);
    bytes crash = before;
    for (uint32_t r = 0; r < g.lane_replicas; ++r) {
      const uint64_t at = g.lane_offset(lane, r);
      std::copy_n(after.begin() + static_cast<long>(at), g.lane_size,
                  crash.begin() + static_cast<long>(at));
      // Its status line had not been written back; that of the entry before had not either, but
      // with engine logfree, where it is fenced (core/engine/logfree/logged.hpp, LOGGED-1).
      const auto status = crash.begin() + static_cast<long>(at);
      if (GetParam().engine == SCUTE_ENGINE_LOGFREE)
        std::copy_n(before.begin() + static_cast<long>(at), 64, status);
      else
        std::fill_n(status, 64, 0);
    }
    f.close();
    return crash;
  }
  void load(const bytes& image) {
    scute_close(f.pool);
    f.pool = nullptr;
    write_file(f.path, image);
    f.open();
  }
  // Offset in a lane of the last entry of the ring.
  uint64_t last_entry(const bytes& image, uint32_t replica = 0) {
    uint64_t best = 0, sequence = 0;
    for (uint64_t at = 64; at < format::lane_undo_offset(g.lane_size); at += 64) {
      format::log_entry e;
      std::memcpy(&e, image.data() + g.lane_offset(lane, replica) + at, sizeof e);
      if (e.magic == format::entry_magic && e.sequence > sequence) best = at, sequence = e.sequence;
    }
    return best;
  }
  void expect(bool applied) {
    for (uint64_t i = 0; i < oids.size(); ++i) {
      bytes want = pattern(i, 700);
      if (applied) std::memcpy(want.data() + 100, pattern(100 + i, 50).data(), 50);
      EXPECT_TRUE(f.read(oids[i]) == want) << "object " << i;
    }
    f.expect_sound();
    EXPECT_NE(f.alloc(pattern(1, 100)), 0u);
  }
  pool_file f;
  pool::geometry g;
  std::vector<scute_oid> oids;
  uint32_t lane = 0;
};

TEST_P(torn_log, WholeEntryIsReplayed) {
  const bytes image = decided();
  for (int round = 0; round < 2; ++round) {
    load(image);
    EXPECT_EQ(f.info().clean, 0);
    EXPECT_EQ(f.info().recovered, 1u);
    expect(true);
  }
}

TEST_P(torn_log, EveryByteOfOneReplica) {
  const bytes image = decided();
  const uint64_t entry = last_entry(image);
  ASSERT_NE(entry, 0u);
  format::log_entry e;
  std::memcpy(&e, image.data() + g.lane_offset(lane, 0) + entry, sizeof e);
  for (uint64_t at = 0; at < sizeof e + e.body_size; at += at < 80 ? 1 : 13)
    for (uint32_t r = 0; r < g.lane_replicas; ++r) {
      bytes damaged = image;
      damaged[g.lane_offset(lane, r) + entry + at] ^= static_cast<unsigned char>(1u << at % 8);
      load(damaged);
      SCOPED_TRACE("byte " + std::to_string(at) + " of replica " + std::to_string(r));
      expect(g.lane_replicas > 1);  // without a second one the transaction never happened
      if (HasFailure()) return;
    }
}

TEST_P(torn_log, BothReplicasDamagedMeansItNeverHappened) {
  SCUTE_RANDOM(random);
  const bytes image = decided();
  const uint64_t entry = last_entry(image);
  format::log_entry e;
  std::memcpy(&e, image.data() + g.lane_offset(lane, 0) + entry, sizeof e);
  for (int round = 0; round < 40; ++round) {
    bytes damaged = image;
    for (uint32_t r = 0; r < g.lane_replicas; ++r) {
      const uint64_t n = random.size(100), at = random.between(0, sizeof e + e.body_size - 1);
      for (uint64_t i = at; i < std::min(at + n, sizeof e + e.body_size); ++i)
        damaged[g.lane_offset(lane, r) + entry + i] ^=
            static_cast<unsigned char>(random.between(1, 255));
    }
    load(damaged);
    expect(false);
    if (HasFailure()) return;
  }
}

TEST_P(torn_log, StatusLineOfGarbage) {
  SCUTE_RANDOM(random);
  const bytes image = decided();
  for (int round = 0; round < 40; ++round) {
    bytes damaged = image;
    for (uint32_t r = 0; r < g.lane_replicas; ++r) {
      const bytes junk = pattern(random.word(), 64);
      std::copy(junk.begin(), junk.end(),
                damaged.begin() + static_cast<long>(g.lane_offset(lane, r)));
    }
    load(damaged);
    expect(true);
    if (HasFailure()) return;
  }
}

// A crash in the middle of a transaction with in-place ranges: its undo entries are alive.
TEST_P(torn_log, UndoEntries) {
  SCUTE_RANDOM(random);
  bytes image;
  {
    transaction tx(f);
    for (uint64_t i = 0; i < oids.size(); ++i) {
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_inplace(tx, oids[i], 200, 60, &p));
      std::memset(p, 0x33, 60);
    }
    image = read_file(f.path);
  }
  lane = static_cast<uint32_t>(scute_thread_lane(f));
  load(image);
  EXPECT_EQ(f.info().clean, 0);
  expect(false);
  if (g.lane_replicas < 2) return;
  for (int round = 0; round < 60; ++round) {
    bytes damaged = image;
    const auto r = static_cast<uint32_t>(round % 2);
    const uint64_t undo = format::lane_undo_offset(g.lane_size);
    for (uint64_t k = random.between(1, 4); k != 0; --k)
      damaged[g.lane_offset(lane, r) + random.between(undo, g.lane_size - 1)] ^=
          static_cast<unsigned char>(random.between(1, 255));
    load(damaged);
    expect(false);
    if (HasFailure()) return;
  }
}

TEST_P(torn_log, UndoEntriesLostInBothReplicas) {
  bytes image;
  {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, oids[1], 200, 60, &p));
    std::memset(p, 0x33, 60);
    image = read_file(f.path);
  }
  lane = static_cast<uint32_t>(scute_thread_lane(f));
  for (uint32_t r = 0; r < g.lane_replicas; ++r)
    image[g.lane_offset(lane, r) + format::lane_undo_offset(g.lane_size) + 5] ^= 1;
  load(image);
  // With checksums the parity, which still encodes the old bytes, makes up for it.
  if (GetParam() == SCUTE_PROTECT_MLPC) expect(false);
}

// With several parities these transactions need no log.
INSTANTIATE_TEST_SUITE_P(Protection, torn_log,
                         testing::Values(pool_kind(SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_ML, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
                                         pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE)),
                         protection_name);

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Resolution of crash images: transactions of every kind cut short in both phases. Before the fence
// any subset of the words of data may be there, and nothing of the parity; after it all data, and
// any subset of the parity.
#include "core/engine/logfree/resolution.hpp"

#include <gtest/gtest.h>

#include "scrub/crash_image.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

enum kind : int {
  one_range,
  whole,
  ring_of_two,
  ring_of_five,
  far_fragments,
  births,
  burial,
  kinds
};
constexpr const char* kind_names[] = {"OneRange",     "Whole",  "RingOfTwo", "RingOfFive",
                                      "FarFragments", "Births", "Burial"};

class cut_short : public testing::TestWithParam<std::tuple<int, scute_checksum>> {
 protected:
  cut_short() : f(2 * mib, std::get<1>(GetParam())) {
    for (const size_t n : {100, 100, 700, 2000, 4064, 4096, 12000, 20000, 100, 300})
      oids.push_back(f.add(pattern(n + oids.size(), n)));
    // Free slots of these sizes are available, so that the transaction needs no step of the
    // heap.
    for (const size_t n : {100, 2000})
      for (int i = 0; i < 3; ++i) spare.push_back(f.alloc(pattern(7, n)));
    for (const scute_oid oid : spare) EXPECT_EQ(SCUTE_OK, f.free(oid));
    f.cut([&](scute_tx* tx, auto& after) { change(tx, after); });
  }
  void write(scute_tx* tx, std::map<scute_oid, bytes>& after, size_t which, uint64_t at, size_t n) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, oids[which], at, n, &p));
    const bytes fresh = pattern(1000 + which + at, n);
    std::copy(fresh.begin(), fresh.end(), static_cast<unsigned char*>(p));
    std::copy(fresh.begin(), fresh.end(), after[oids[which]].begin() + static_cast<long>(at));
  }
  void bear(scute_tx* tx, std::map<scute_oid, bytes>& after, size_t n) {
    void* p = nullptr;
    scute_oid oid = 0;
    SCUTE_OKAY(scute_tx_alloc(tx, n, 1, &oid, &p));
    after[oid] = pattern(2000 + n, n);
    std::copy(after[oid].begin(), after[oid].end(), static_cast<unsigned char*>(p));
  }
  void bury(scute_tx* tx, std::map<scute_oid, bytes>& after, size_t which) {
    SCUTE_OKAY(scute_tx_free(tx, oids[which]));
    after.erase(oids[which]);
  }
  void change(scute_tx* tx, std::map<scute_oid, bytes>& after) {
    switch (std::get<0>(GetParam())) {
      case one_range: return write(tx, after, 2, 300, 50);
      case whole: return write(tx, after, 5, 0, 4096);
      case ring_of_two: write(tx, after, 0, 0, 100); return write(tx, after, 3, 1000, 16);
      case ring_of_five:
        for (const size_t k : {1, 2, 3, 4, 8}) write(tx, after, k, 4 * k, 40);
        return;
      // Headers of an array, payload of some fragments after it.
      case far_fragments:
        write(tx, after, 6, 4096 + 4000, 200);
        return write(tx, after, 7, 3 * 4096 + 17, 5);
      case births:
        bear(tx, after, 100);
        bear(tx, after, 2000);
        return write(tx, after, 9, 0, 8);
      case burial:
        bury(tx, after, 6);
        bury(tx, after, 0);
        bear(tx, after, 100);
        return write(tx, after, 2, 600, 100);
      default: FAIL();
    }
  }
  // Resolved when it is needed, or by a scan.
  void verify(const std::map<scute_oid, bytes>& wanted, int round) {
    if (round % 3 == 0) f.expect(wanted);
    f.expect_sound_with(wanted);
  }
  static std::vector<uint64_t> some_of(random_source& random, const std::vector<uint64_t>& all) {
    const uint64_t density = random.between(0, 20);
    std::vector<uint64_t> taken;
    for (const uint64_t at : all)
      if (random.between(1, 20) <= density) taken.push_back(at);
    return taken;
  }

  crash_image f;
  std::vector<scute_oid> oids, spare;
};

TEST_P(cut_short, AnyWordsOfTheDataPhase) {
  SCUTE_RANDOM(random);
  ASSERT_GE(f.data.size(), 4u);
  for (int round = 0; round < 40; ++round) {
    std::vector<uint64_t> there = some_of(random, f.data);
    // Each alone and each missing are the cases that are missed most easily.
    const uint64_t pick = f.data[random.between(0, f.data.size() - 1)];
    if (round % 4 == 1) there = {pick};
    if (round % 4 == 2) {
      there = f.data;
      there.erase(std::find(there.begin(), there.end(), pick));
    }
    SCOPED_TRACE(std::to_string(there.size()) + " of " + std::to_string(f.data.size()) +
                 " words, round " + std::to_string(round));
    f.load(f.with(there));
    EXPECT_EQ(f.info().clean, 0);
    EXPECT_GT(f.info().unresolved, 0u);
    verify(there.size() == f.data.size() ? f.after : f.before, round);
    if (HasFailure()) return;
  }
}

TEST_P(cut_short, AnyWordsOfTheParityPhase) {
  SCUTE_RANDOM(random);
  for (int round = 0; round < 30; ++round) {
    std::vector<uint64_t> there = round == 0 ? std::vector<uint64_t>{} : some_of(random, f.parity);
    if (round % 4 == 1) there = {f.parity[random.between(0, f.parity.size() - 1)]};
    SCOPED_TRACE(std::to_string(there.size()) + " of " + std::to_string(f.parity.size()) +
                 " words of parity, round " + std::to_string(round));
    there.insert(there.end(), f.data.begin(), f.data.end());
    f.load(f.with(there));
    verify(f.after, round);
    if (HasFailure()) return;
  }
}

// LF-3, RES-4.
TEST_P(cut_short, SomeMembersWholeAndOthersNot) {
  SCUTE_RANDOM(random);
  std::vector<std::vector<uint64_t>> members;
  for (const auto& contents : {f.before, f.after})
    for (const auto& [oid, content] : contents) {
      auto words = f.words_of(oid);
      if (words.empty() || std::count(members.begin(), members.end(), words) != 0) continue;
      members.push_back(std::move(words));
    }
  for (uint64_t set = 0; set < uint64_t{1} << members.size(); ++set) {
    std::vector<uint64_t> there;
    for (size_t i = 0; i < members.size(); ++i)
      if ((set >> i & 1) != 0) there.insert(there.end(), members[i].begin(), members[i].end());
    SCOPED_TRACE("members " + std::to_string(set));
    f.load(f.with(there));
    verify(there.size() == f.data.size() ? f.after : f.before, static_cast<int>(set));
    if (HasFailure()) return;
  }
}

// Resolution has to do its work twice: a second crash anywhere before it has finished. (POOL-7,
// RES-7)
TEST_P(cut_short, TwiceInARow) {
  SCUTE_RANDOM(random);
  for (int round = 0; round < 6; ++round) {
    const bool decided = round % 2 == 1;
    std::vector<uint64_t> there = decided ? f.data : some_of(random, f.data);
    if (there.size() == f.data.size() && !decided) there.pop_back();
    f.load(f.with(there));
    const auto& wanted = decided ? f.after : f.before;
    for (int again = 0; again < 3; ++again) {
      // Some of it is needed, and resolved.
      auto it = wanted.begin();
      std::advance(it, static_cast<long>(random.between(0, wanted.size() - 1)));
      EXPECT_TRUE(f.read(it->first) == it->second);
      f.load(read_file(f.path));
      EXPECT_GT(f.info().unresolved, 0u);
    }
    verify(wanted, round);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Transaction, cut_short,
                         testing::Combine(testing::Range(0, static_cast<int>(kinds)),
                                          testing::Values(SCUTE_CHECKSUM_CRC32C,
                                                          SCUTE_CHECKSUM_ADLER32)),
                         [](const auto& p) {
                           return std::string(kind_names[std::get<0>(p.param)]) +
                                  (std::get<1>(p.param) == SCUTE_CHECKSUM_CRC32C ? "Crc" : "Adler");
                         });

// ---- counters -----------------------------------------------------------------------------------

class resolution : public testing::Test {
 protected:
  resolution() {
    for (uint64_t i = 0; i < 6; ++i) oids.push_back(f.add(pattern(i, 500)));
  }
  void overwrite(scute_tx* tx, std::map<scute_oid, bytes>& after, scute_oid oid, uint64_t key) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_open(tx, oid, &p));
    after[oid] = pattern(key, after[oid].size());
    std::copy(after[oid].begin(), after[oid].end(), static_cast<unsigned char*>(p));
  }
  void cut_two() {
    f.cut([&](scute_tx* tx, auto& after) {
      overwrite(tx, after, oids[0], 100);
      overwrite(tx, after, oids[1], 101);
    });
  }
  crash_image f;
  std::vector<scute_oid> oids;
};

TEST_F(resolution, CountsWhatItDoes) {
  cut_two();
  const auto first = f.words_of(oids[0]);
  // One member whole, the other one torn: both go back.
  auto torn = f.words_of(oids[1]);
  torn.resize(torn.size() / 2);
  torn.insert(torn.end(), first.begin(), first.end());
  f.load(f.with(torn));
  f.wait();
  EXPECT_EQ(f.info().rolled_back, 2u);
  EXPECT_EQ(f.info().finished, 0u);
  f.expect(f.before);
  // The other one was never begun: one goes back.
  f.load(f.with(first));
  f.wait();
  EXPECT_EQ(f.info().rolled_back, 1u);
  f.expect(f.before);
  // All there, the parity old.
  f.load(f.with(f.data));
  f.wait();
  EXPECT_EQ(f.info().rolled_back, 0u);
  EXPECT_EQ(f.info().finished, 2u);
  f.expect(f.after);
  // Nothing to do.
  f.load(f.new_file);
  f.wait();
  EXPECT_EQ(f.info().rolled_back, 0u);
  EXPECT_EQ(f.info().finished, 0u);
  f.expect(f.after);
}

// Not more than the blocks of the member that is read, or of a header that its chunk's table needs.
TEST_F(resolution, AReadResolvesOnlyTheColumnsItNeeds) {
  cut_two();
  f.load(f.with(f.words_of(oids[0])));
  const uint64_t all = f.info().unresolved;
  EXPECT_TRUE(f.read(oids[3]) == f.before[oids[3]]);
  EXPECT_TRUE(f.read(oids[0]) == f.before[oids[0]]);
  EXPECT_LT(f.info().unresolved, all);
  EXPECT_GE(f.info().unresolved, all - 2 * 5 * 4096);
  f.expect_sound_with(f.before);
}

// ---- epochs -------------------------------------------------------------------------------------

// LF-7: a member of a decided ring is written again before the other ones are resolved, and then
// the power fails again.
TEST_F(resolution, AMemberIsWrittenAgain) {
  cut_two();
  f.load(f.with(f.data));
  f.overwrite(oids[0], pattern(200, 500));
  f.load(f.file());
  f.after[oids[0]] = pattern(200, 500);
  EXPECT_TRUE(f.read(oids[1]) == f.after[oids[1]]);
  f.expect_sound_with(f.after);
}

TEST_F(resolution, AMemberOfABrokenRingIsWrittenAgain) {
  cut_two();
  f.load(f.with(f.words_of(oids[0])));
  {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_add_range(tx, oids[0], 10, 5, &p));
    EXPECT_EQ(0, std::memcmp(p, f.before[oids[0]].data() + 10, 5)) << "built upon what was undone";
    std::memset(p, 3, 5);
    std::fill_n(f.before[oids[0]].begin() + 10, 5, 3);
    SCUTE_OKAY(tx.commit());
  }
  f.load(f.file());
  f.expect_sound_with(f.before);
}

// Two crashes, each in the middle of a transaction, none resolved. (RES-6, EPOCH-1)
TEST_F(resolution, RingsOfTwoEpochs) {
  for (const bool first_decided : {false, true})
    for (const bool second_decided : {false, true}) {
      SCOPED_TRACE(std::to_string(first_decided) + std::to_string(second_decided));
      crash_image two;
      std::vector<scute_oid> o;
      // In different column blocks, so that the second transaction leaves the first one's alone.
      for (uint64_t i = 0; i < 12; ++i) o.push_back(two.add(pattern(i, 3000)));
      two.cut([&](scute_tx* tx, auto& after) {
        overwrite(tx, after, o[0], 100);
        overwrite(tx, after, o[1], 101);
      });
      auto there = first_decided ? two.data : two.words_of(o[0]);
      two.load(two.with(there));
      const uint64_t resolved = two.in().s.sb.resolved_epoch, epoch = two.in().s.sb.epoch;
      EXPECT_EQ(epoch - resolved, 2u);
      if (first_decided) two.before = two.after;
      // With the first one's columns as they are, which two.file() must not check or resolve.
      two.cut([&](scute_tx* tx, auto& after) {
        overwrite(tx, after, o[9], 200);
        overwrite(tx, after, o[11], 201);
      });
      there = second_decided ? two.data : two.words_of(o[11]);
      two.load(two.with(there));
      EXPECT_EQ(two.in().s.sb.resolved_epoch, resolved) << "two epochs are in doubt";
      EXPECT_EQ(two.in().s.sb.epoch, epoch + 1);
      const auto& wanted = second_decided ? two.after : two.before;
      for (const auto& [oid, content] : wanted)
        EXPECT_TRUE(two.read(oid) == content) << two.offset_of(oid);
      two.wait();
      EXPECT_EQ(two.in().s.sb.resolved_epoch, epoch);
      EXPECT_EQ(two.info().rolled_back, uint64_t{!first_decided} + uint64_t{!second_decided});
      EXPECT_EQ(two.info().finished, 2 * (uint64_t{first_decided} + uint64_t{second_decided}));
      two.expect_sound_with(wanted);
    }
}

// ---- bytes that nothing vouches for -------------------------------------------------------------

// Two objects of different rows whose payloads have columns in common, a beginning further left, so
// that its header is in no column of b.
class shared_columns : public testing::Test {
 protected:
  shared_columns() {
    std::vector<scute_oid> all;
    for (uint64_t i = 0; i < 400; ++i) all.push_back(f.add(pattern(i, 3000)));
    for (const scute_oid left : all)
      for (const scute_oid right : all) {
        const auto l = cell(left), r = cell(right);
        if (l.row == r.row || r.column < l.column + 100 || r.column > l.column + 1500) continue;
        if (r.column + 3200 > f.g.row_size) continue;
        a = left, b = right;
        return;
      }
  }
  void SetUp() override { ASSERT_NE(a, 0u); }
  pool::cell cell(scute_oid oid) const { return pool::cell_of(f.g, f.offset_of(oid)); }
  // A place in a whose byte column b has payload in.
  uint64_t shared() const { return f.offset_of(a) + (cell(b).column - cell(a).column) + 400; }
  void cut_b(uint64_t at, size_t n) {
    f.cut([&](scute_tx* tx, auto& after) {
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_add_range(tx, b, at, n, &p));
      const bytes fresh = pattern(999, n);
      std::copy(fresh.begin(), fresh.end(), static_cast<unsigned char*>(p));
      std::copy(fresh.begin(), fresh.end(), after[b].begin() + static_cast<long>(at));
    });
  }

  crash_image f;
  scute_oid a = 0, b = 0;
};

// LF-5. The free slot's payload is no open cell: what its columns lack is the torn object's.
TEST_F(shared_columns, AFreeSlotsPayloadIsLeftAlone) {
  ASSERT_EQ(SCUTE_OK, f.free(a));
  f.before.erase(a);
  cut_b(0, 3000);
  SCUTE_RANDOM(random);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint64_t> there;
    for (const uint64_t at : f.data)
      if (random.one_in(2)) there.push_back(at);
    f.load(f.with(there));
    f.expect_sound_with(f.before);
    if (HasFailure()) return;
  }
}

// One transaction frees an object while another one has cells open in the columns of its payload.
TEST_F(shared_columns, FreedInTheMiddleOfAnotherOnesColumns) {
  SCUTE_RANDOM(random);
  const uint64_t header = f.in().heap->zones().locate(f.offset_of(a)).header;
  const bytes start = f.file();
  f.cut([&](scute_tx* tx, auto& after) {
    SCUTE_OKAY(scute_tx_free(tx, a));
    after.erase(a);
  });
  const auto freed = f.data;
  const bytes freed_file = f.new_file;
  for (const uint64_t at : freed) ASSERT_TRUE(at >= header && at < header + 32);
  for (const bool decided : {false, true}) {
    f.load(start);
    f.wait();
    cut_b(0, 3000);
    for (int round = 0; round < 12; ++round) {
      std::vector<uint64_t> there;
      for (const uint64_t at : f.data)
        if (random.one_in(2)) there.push_back(at);
      // The freed header is of another session, whose tags are in doubt as well if its superblock
      // is taken along.
      bytes image = f.with(there);
      std::vector<uint64_t> of_header = freed;
      if (!decided) of_header.resize(random.between(1, freed.size() - 1));
      for (const uint64_t at : of_header)
        std::copy_n(freed_file.begin() + static_cast<long>(at), 8,
                    image.begin() + static_cast<long>(at));
      for (const uint64_t at : {uint64_t{0}, uint64_t{4096}, f.g.file_size - 4096})
        std::copy_n(start.begin() + static_cast<long>(at), 512,
                    image.begin() + static_cast<long>(at));
      SCOPED_TRACE(std::to_string(decided) + " round " + std::to_string(round));
      f.load(image);
      auto wanted = f.before;
      if (decided) wanted.erase(a);
      f.expect_sound_with(wanted);
      if (HasFailure()) return;
    }
  }
}

// Damage and crash in one byte column are more than one row of parity can tell apart: both objects
// are named, nothing is made up, and nothing else is touched.
TEST_F(shared_columns, DamageAndCrashInOneColumnAreReported) {
  cut_b(0, 3000);
  auto there = f.words_of(b);
  there.resize(there.size() - 1);
  bytes image = f.with(there);
  image[shared()] ^= 0x40;
  f.load(image);
  f.wait();
  EXPECT_EQ(f.info().lost, 2u);
  const void* p = nullptr;
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f, a, &p));
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f, b, &p));
  for (const auto& [oid, content] : f.before) {
    if (oid == a || oid == b) continue;
    EXPECT_TRUE(f.read(oid) == content);
  }
}

// In different columns of the same objects it is not too much.
TEST_F(shared_columns, DamageNextToACrashIsRepaired) {
  cut_b(2990, 10);
  bytes image = f.with(f.within(f.data, f.offset_of(b) - format::header_size, format::header_size));
  image[shared()] ^= 0x40;
  f.load(image);
  f.expect_sound_with(f.before);
}

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Reports after an unclean end: damage as damage, and the traces of a crash as nothing else.
#include "core/engine/logfree/crash_or_damage.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <csignal>
#include <thread>

#include "core/engine/logfree/extents.hpp"
#include "scrub/crash_image.hpp"
#include "support/seed.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;
namespace {

// ---- images -------------------------------------------------------------------------------------

class crash_or_damage : public testing::Test {
 protected:
  crash_or_damage() {
    for (uint64_t i = 0; i < 40; ++i) oids.push_back(f.add(pattern(i, 500)));
    large = f.add(pattern(77, 20000));
    f.cut([&](scute_tx* tx, auto& after) {
      for (const scute_oid oid : {oids[0], oids[1]}) {
        void* p = nullptr;
        SCUTE_OKAY(scute_tx_open(tx, oid, &p));
        after[oid] = pattern(oid, 500);
        std::copy(after[oid].begin(), after[oid].end(), static_cast<unsigned char*>(p));
      }
    });
  }
  uint64_t header_of(scute_oid oid) const { return f.places.at(oid).first; }
  // The events of the ring, as "kind at offset".
  std::vector<scute_event> events() {
    std::vector<scute_event> all;
    SCUTE_OKAY_E(scute_events(
        f,
        [](void* arg, const scute_event* e) {
          static_cast<std::vector<scute_event>*>(arg)->push_back(*e);
        },
        &all));
    return all;
  }
  // Opens the image in which the session is open, with this much damage.
  void expect(const bytes& image, uint64_t damaged, uint64_t torn,
              scute_event_kind kind = SCUTE_EVENT_OBJECT) {
    f.load(image);
    f.wait();
    EXPECT_EQ(f.info().repaired, damaged);
    EXPECT_EQ(f.info().rolled_back, torn);
    EXPECT_EQ(f.info().lost, 0u);
    uint64_t reported = 0;
    for (const scute_event& e : events()) {
      EXPECT_EQ(e.kind, kind);
      EXPECT_EQ(e.outcome, SCUTE_OUTCOME_REPAIRED);
      reported += e.count;
    }
    EXPECT_EQ(reported, damaged);
    f.expect_sound_with(f.before);
  }
  bytes damaged(bytes image, uint64_t offset, size_t n) const {
    const bytes noise = pattern(offset, n);
    std::copy(noise.begin(), noise.end(), image.begin() + static_cast<long>(offset));
    return image;
  }

  crash_image f;
  std::vector<scute_oid> oids;
  scute_oid large = 0;
};

// TRACE-2.
TEST_F(crash_or_damage, PayloadOverwritten) {
  expect(damaged(f.old_file, header_of(oids[20]) + 40, 300), 1, 0);
}

TEST_F(crash_or_damage, OneBit) {
  // Checksum, type, meta, tag (sequence, lane, epoch), next, and one of the payload.
  for (const uint64_t at : {0, 5, 8, 13, 17, 20, 23, 25, 100}) {
    SCOPED_TRACE(at);
    bytes image = f.old_file;
    image[header_of(oids[20]) + at] ^= 1;
    expect(image, 1, 0);
  }
}

TEST_F(crash_or_damage, PartOfALargeObject) {
  expect(damaged(f.old_file, f.offset_of(large) + 9000, 500), 1, 0);
}

TEST_F(crash_or_damage, AFreeSlot) {
  const scute_oid gone = f.alloc(pattern(1, 500));
  ASSERT_EQ(SCUTE_OK, f.free(gone));
  const uint64_t at = f.in().heap->zones().locate(f.offset_of(gone)).header;
  f.before = f.after;
  expect(damaged(f.file(), at, 32), 1, 0, SCUTE_EVENT_FREE);
}

// TRACE-1.
TEST_F(crash_or_damage, AChunkHeader) {
  expect(damaged(f.old_file, f.g.chunk_header_offset(0, 1) + 8, 40), 1, 0, SCUTE_EVENT_STRUCTURE);
}

// The columns of the first row's structures, where everything is vouched for, or was never in use.
// (TRACE-5, TRACE-6)
TEST_F(crash_or_damage, Parity) {
  const uint64_t at = pool::parity_offset(f.g, 0, 0);
  expect(damaged(f.old_file, at, 4096), 1, 0, SCUTE_EVENT_PARITY);
}

// A commit was cut short, at any of its stores. (TRACE-2, TRACE-3)
TEST_F(crash_or_damage, AKilledCommit) {
  for (size_t n = 0; n <= f.data.size(); n += n < 12 ? 1 : 7) {
    SCOPED_TRACE(n);
    const auto members = [&](scute_oid oid) {
      const auto all = f.words_of(oid);
      const size_t before = oid == oids[0] ? 0 : f.words_of(oids[0]).size();
      const size_t there = n < before ? 0 : std::min(all.size(), n - before);
      return std::vector<uint64_t>(all.begin(), all.begin() + static_cast<long>(there));
    };
    // Four words of header are stored at once.
    auto there = members(oids[0]);
    const auto second = members(oids[1]);
    if ((!there.empty() && there.size() < 4) || (!second.empty() && second.size() < 4)) continue;
    there.insert(there.end(), second.begin(), second.end());
    f.load(f.with(there));
    f.wait();
    EXPECT_EQ(f.info().repaired, 0u);
    EXPECT_TRUE(events().empty());
    f.expect_sound_with(there.size() == f.data.size() ? f.after : f.before);
  }
}

// Decided, with as much of its parity as there was. (TRACE-3, TRACE-6)
TEST_F(crash_or_damage, AKilledParityPhase) {
  for (size_t n = 0; n <= f.parity.size(); n += 5) {
    SCOPED_TRACE(n);
    auto there = f.data;
    there.insert(there.end(), f.parity.begin(), f.parity.begin() + static_cast<long>(n));
    f.load(f.with(there));
    f.wait();
    EXPECT_EQ(f.info().repaired, 0u);
    EXPECT_TRUE(events().empty());
    f.expect_sound_with(f.after);
  }
}

// Both at once, in different columns.
TEST_F(crash_or_damage, CrashAndDamage) {
  auto torn = f.words_of(oids[0]);
  torn.resize(torn.size() / 2);
  expect(damaged(f.with(torn), header_of(oids[20]) + 40, 300), 1, 1);
}

// TRACE-4, INPLACE-1, INPLACE-2.
TEST_F(crash_or_damage, InPlaceRanges) {
  f.load(f.old_file);
  f.wait();
  bytes image;
  {
    transaction tx(f);
    for (const uint64_t at : {30, 9000}) {
      void* p = nullptr;
      SCUTE_OKAY(scute_tx_inplace(tx, large, at, 60, &p));
      std::memset(p, 0x5a, 60);
    }
    image = f.file();
    // The pool's own damage is none of the transaction's.
    EXPECT_EQ(SCUTE_OK, tx.abort());
  }
  expect(image, 0, 2);
  expect(damaged(image, header_of(oids[20]) + 40, 300), 1, 2);
  // After a power failure the note may be missing.
  for (uint32_t lane = 0; lane < f.g.lane_count; ++lane)
    std::fill_n(image.begin() + static_cast<long>(f.g.lane_offset(lane, 0) +
                                                  offsetof(format::lane_status, in_place)),
                16, static_cast<unsigned char>(0));
  expect(image, 2, 0);
}

// The session after a crash uses the lane for another in-place range, and is killed as well, before
// all is resolved. (INPLACE-1)
TEST_F(crash_or_damage, InPlaceRangesOfTwoSessions) {
  f.load(f.old_file);
  f.wait();
  const auto in_place = [&](scute_tx* tx, scute_oid oid) {
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, oid, 30, 60, &p));
    std::memset(p, 0x5a, 60);
  };
  bytes image;
  {
    transaction tx(f);
    in_place(tx, oids[0]);
    image = f.file();
    EXPECT_EQ(SCUTE_OK, tx.abort());
  }
  f.load(image);
  // Whichever lane it was. Objects of other columns: what is stored there resolves nothing of the
  // first one's.
  const auto block_of = [&](uint64_t offset) {
    return pool::cell_of(f.g, offset).column / pool::column_block;
  };
  const uint64_t taken = block_of(header_of(oids[0])), payload = block_of(header_of(oids[0]) + 532);
  std::vector<scute_oid> apart;
  for (const scute_oid oid : oids)
    if (const uint64_t b = block_of(header_of(oid)), e = block_of(header_of(oid) + 532);
        b != taken && b != payload && e != taken && e != payload)
      apart.push_back(oid);
  ASSERT_GE(apart.size(), f.g.lane_count);
  std::vector<std::thread> threads;
  std::barrier all_there(f.g.lane_count + 1);
  for (uint32_t i = 0; i < f.g.lane_count; ++i)
    threads.emplace_back([&, i] {
      transaction tx(f);
      in_place(tx, apart[i]);
      all_there.arrive_and_wait();
      all_there.arrive_and_wait();
      EXPECT_EQ(SCUTE_OK, tx.abort());
    });
  all_there.arrive_and_wait();
  image = f.file();
  all_there.arrive_and_wait();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(f.info().repaired, 0u);
  f.load(image);
  f.wait();
  EXPECT_EQ(f.info().repaired, 0u);
  EXPECT_TRUE(events().empty());
  f.expect_sound_with(f.before);
}

// ---- processes ----------------------------------------------------------------------------------

// Runs `work` on the pool in a process of its own, and kills it after some time.
template <typename Work>
void kill_during(Work&& work, useconds_t after) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    ::_exit(1);
  }
  pause(std::chrono::microseconds(after));
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  ASSERT_TRUE(WIFSIGNALED(status)) << "the work ended by itself";
}

class killed : public testing::TestWithParam<uint32_t> {
 protected:
  static constexpr uint32_t passing = 9;  // type of the objects that come and go
  void SetUp() override {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, GetParam()});
    o.rows = 8;
    f.create(o);
    for (uint64_t i = 0; i < 64; ++i) {
      content.push_back(pattern(i, 100 + i * 90));
      oids.push_back(f.alloc(content.back()));
    }
    root = f.alloc(pattern(1, 9000));
    f.close();
  }
  // Everything that a program does, until it is killed. The first half of the objects it leaves
  // alone.
  static void work(const std::string& path, const std::vector<scute_oid>& oids, scute_oid root,
                   uint64_t seed) {
    scute_options o;
    scute_options_init(&o);
    scute_pool* pool = nullptr;
    if (scute_open(path.c_str(), &o, &pool) != SCUTE_OK) ::_exit(2);
    std::mt19937_64 random(seed);
    std::vector<scute_oid> made;
    scute_oid left = 0;
    for (int e = scute_first(pool, passing, &left); e == SCUTE_OK && left != 0;
         e = scute_next(pool, left, passing, &left))
      made.push_back(left);
    for (;;) {
      scute_tx* tx = nullptr;
      void* p = nullptr;
      if (scute_tx_begin(pool, &tx) != SCUTE_OK) ::_exit(3);
      const uint64_t n = 1 + random() % 3;
      for (uint64_t k = 0; k < n; ++k) {
        const scute_oid oid = oids[oids.size() / 2 + random() % (oids.size() / 2)];
        if (scute_tx_open(tx, oid, &p) == SCUTE_OK) std::memset(p, static_cast<int>(random()), 100);
      }
      const uint64_t at = random() % 8000;
      if (random() % 2 == 0 && scute_tx_inplace(tx, root, at, 200, &p) == SCUTE_OK)
        std::memset(p, static_cast<int>(random()), 200);
      scute_oid fresh = 0;
      const size_t sizes[] = {60, 3000, 30000, 200000};
      const size_t size = sizes[random() % 4];
      if (scute_tx_alloc(tx, size, passing, &fresh, &p) == SCUTE_OK) {
        std::memset(p, static_cast<int>(random()), size);
        made.push_back(fresh);
      }
      while (made.size() > 5) {
        scute_tx_free(tx, made.front());
        made.erase(made.begin());
      }
      if (random() % 4 == 0 || scute_tx_commit(tx) != SCUTE_OK) scute_tx_abort(tx);
    }
  }
  // An object that no thread has touched, and whose columns no transaction had open. It is found
  // by the bytes of the file: a session, a read-only one as well, sees what recovery has made of
  // them.
  scute_oid undisturbed(random_source& random) {
    const bytes file = read_file(f.path);
    f.open(SCUTE_READONLY | SCUTE_LAZY_RECOVERY);
    const pool::geometry g = f.in().s.geo;
    std::vector<heap::object> places;
    for (size_t k = 0; k < oids.size() / 2; ++k)
      places.push_back(f.in().heap->zones().locate(f.offset_of(oids[k])));
    f.close();
    const auto adds_up = [&](uint64_t, uint64_t zone, uint64_t column, uint64_t n) {
      bool all = true;
      for (uint64_t c = column; c < column + n; ++c) {
        unsigned char sum = 0;
        for (uint64_t row = 0; row <= g.rows; ++row)  // the first parity is a plain sum
          sum ^= file[g.zone_offset(zone) + row * g.row_size + c];
        all = all && sum == 0;
      }
      return all;
    };
    for (;;) {
      const uint64_t k = random.between(0, places.size() - 1);
      const heap::object& o = places[k];
      bool sound = true;
      engine::for_each_part(g, o.header, o.payload + o.room - o.header,
                            [&](uint64_t at, uint64_t zone, uint64_t column, uint64_t n) {
                              sound = sound && adds_up(at, zone, column, n);
                            });
      if (sound) return oids[k];
    }
  }
  uint64_t reported() {
    uint64_t n = 0;
    SCUTE_OKAY_E(scute_events(
        f, [](void* arg, const scute_event* e) { *static_cast<uint64_t*>(arg) += e->count; }, &n));
    return n;
  }

  pool_file f;
  std::vector<scute_oid> oids;
  std::vector<bytes> content;
  scute_oid root = 0;
};

// TRACE-1, TRACE-5, LF-6: what steps and staging leave is no damage.
TEST_P(killed, DuringTransactions) {
  SCUTE_RANDOM(random);
  uint64_t at_work = 0, events = 0;
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE(round);
    const uint64_t seed = random.word();
    kill_during([&] { work(f.path, oids, root, seed); },
                static_cast<useconds_t>(random.between(4000, 30000)));
    const bool damage = round % 5 == 4;
    if (damage) {
      const uint64_t at = f.offset_of(undisturbed(random)) + 8;
      const bytes noise = pattern(seed, 50);
      write_at(f.path, at, noise.data(), noise.size());
    }
    f.open(SCUTE_LAZY_RECOVERY);
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
    const scute_info i = f.info();
    at_work += i.rolled_back + i.finished != 0 ? 1 : 0;
    EXPECT_EQ(i.lost, 0u);
    std::vector<std::string> findings;
    const scute_report r = f.check(true, &findings);
    EXPECT_EQ(f.info().repaired, damage ? 1u : 0u) << testing::PrintToString(findings);
    EXPECT_EQ(reported(), events += damage ? 1 : 0);
    EXPECT_EQ(r.lost, 0u);
    for (size_t k = 0; k < oids.size() / 2; ++k) EXPECT_TRUE(f.read(oids[k]) == content[k]);
    f.close();
    if (HasFailure()) return;
  }
  std::printf("%llu of 25 kills left something to resolve\n",
              static_cast<unsigned long long>(at_work));
}

// Opening and closing, on a disk, where that takes its time. (TRACE-7)
TEST_P(killed, InOpenAndClose) {
  SCUTE_RANDOM(random);
  pool_file on_disk(scratch::disk);
  scute_options o = options(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, GetParam()});
  on_disk.create(o);
  const scute_oid oid = on_disk.alloc(pattern(1, 100));
  on_disk.close();
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE(round);
    kill_during(
        [&] {
          for (;;) {
            scute_pool* pool = nullptr;
            if (scute_open(on_disk.path.c_str(), nullptr, &pool) != SCUTE_OK) ::_exit(2);
            if (scute_close(pool) != SCUTE_OK) ::_exit(3);
          }
        },
        static_cast<useconds_t>(random.between(1000, 12000)));
    on_disk.open();
    EXPECT_EQ(on_disk.info().repaired, 0u);
    EXPECT_TRUE(on_disk.read(oid) == pattern(1, 100));
    on_disk.expect_sound();
    on_disk.close();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Parity, killed, testing::Values(1, 2),
                         [](const auto& p) { return "P" + std::to_string(p.param); });

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// The queue of events, the reports of them, and the ring in the pool.
#include "core/shared/pool/event_log.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

// Further apart than a row of the pools here: such events are not reported as one.
constexpr uint64_t apart = mib;

pool::event event_at(uint64_t offset, scute_event_kind kind = SCUTE_EVENT_OBJECT) {
  return {kind, SCUTE_OUTCOME_REPAIRED, SCUTE_FINDER_ACCESS, offset, 64};
}

// The events that a callback got. Notices calls that overlap, or that are out of order.
struct listener {
  std::vector<scute_event> reported;
  std::atomic<bool> inside{false};
  bool overlapped = false;

  static void on_event(void* arg, const scute_event* e) {
    auto* self = static_cast<listener*>(arg);
    if (self->inside.exchange(true)) self->overlapped = true;
    self->reported.push_back(*e);
    self->inside = false;
  }
  uint64_t places() const {
    uint64_t n = 0;
    for (const scute_event& e : reported) n += e.count + e.dropped;
    return n;
  }
  void expect_in_order() const {
    EXPECT_FALSE(overlapped);
    for (size_t i = 1; i < reported.size(); ++i)
      EXPECT_EQ(reported[i].sequence, reported[i - 1].sequence + 1);
  }
};

class event_log : public testing::Test {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib);
    listen(o);
    f.create(o);
  }
  void listen(scute_options& o) {
    o.event = &listener::on_event;
    o.event_arg = &seen;
  }
  void reopen(uint32_t flags = 0) {
    f.close();
    scute_options o = opening();
    o.flags = flags;
    listen(o);
    SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  }
  void post(const pool::event& e) { f.in().s.events.post(e); }
  void drain() { f.in().s.events.notify_all(f.in().s); }
  std::vector<scute_event> ring() {
    std::vector<scute_event> all;
    SCUTE_OKAY_E(scute_events(
        f,
        [](void* arg, const scute_event* e) {
          static_cast<std::vector<scute_event>*>(arg)->push_back(*e);
        },
        &all));
    return all;
  }
  std::byte* line(unsigned copy, uint64_t sequence) {
    return f.raw(f.in().s.geo.superblock_offset(copy) + 1024 + sequence % 48 * 64);
  }

  pool_file f;
  listener seen;
};

TEST_F(event_log, NothingHappened) {
  EXPECT_TRUE(ring().empty());
  EXPECT_FALSE(f.in().s.events.pending());
  EXPECT_TRUE(seen.reported.empty());
}

TEST_F(event_log, ARepairIsOneEvent) {
  const scute_oid oid = f.alloc(pattern(1, 100), 7);
  f.raw(f.offset_of(oid))[50] ^= std::byte{1};
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  ASSERT_EQ(seen.reported.size(), 1u) << "reported at the end of the call";
  const scute_event e = seen.reported[0];
  EXPECT_EQ(e.sequence, 1u);
  EXPECT_EQ(e.kind, SCUTE_EVENT_OBJECT);
  EXPECT_EQ(e.outcome, SCUTE_OUTCOME_REPAIRED);
  EXPECT_EQ(e.finder, SCUTE_FINDER_ACCESS);
  EXPECT_EQ(e.count, 1u);
  EXPECT_EQ(e.offset, f.offset_of(oid) - 32);
  EXPECT_GE(e.length, 132u);
  EXPECT_EQ(e.object, oid);
  EXPECT_EQ(e.epoch, f.info().epoch);
  EXPECT_EQ(e.dropped, 0u);
  EXPECT_GT(e.time_ns, uint64_t{1'600'000'000'000'000'000});
  const auto kept = ring();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(std::memcmp(&kept[0], &e, sizeof e), 0);
}

TEST_F(event_log, ALossIsOneEventPerAccess) {
  const scute_oid oid = f.alloc(pattern(1, 100));
  const uint64_t at = f.offset_of(oid);
  const auto& s = f.in().s;
  const pool::cell c = pool::cell_of(s.geo, at);
  // A bit that both rows have wrong: no choice among the bits that do not add up is right
  // (BITFLIP-3).
  f.raw(at)[50] ^= std::byte{3};
  f.raw(s.geo.zone_offset(c.zone) + s.geo.data_size + c.column)[50] ^= std::byte{6};
  const void* bytes = nullptr;
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f, oid, &bytes));
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f, oid, &bytes));
  ASSERT_EQ(seen.reported.size(), 2u);
  EXPECT_EQ(seen.reported[1].outcome, SCUTE_OUTCOME_LOST);
  EXPECT_EQ(seen.reported[1].object, oid);
}

TEST_F(event_log, SuperblocksAtOpenAndFindingsOfCheck) {
  f.close();
  bytes file = read_file(f.path);
  file[4096 + 100] ^= 1;
  write_file(f.path, file);
  seen.reported.clear();
  scute_options o = opening();
  listen(o);
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  ASSERT_EQ(seen.reported.size(), 1u) << "reported when open returns";
  EXPECT_EQ(seen.reported[0].kind, SCUTE_EVENT_SUPERBLOCK);
  EXPECT_EQ(seen.reported[0].finder, SCUTE_FINDER_OPEN);
  EXPECT_EQ(seen.reported[0].offset, 4096u);

  const scute_oid oid = f.alloc(pattern(1, 100));
  f.raw(f.offset_of(oid))[3] ^= std::byte{8};
  const auto& g = f.in().s.geo;
  f.raw(g.zone_offset(0) + g.data_size + 100 * 4096)[9] ^= std::byte{8};
  seen.reported.clear();
  f.check(false);
  ASSERT_EQ(seen.reported.size(), 2u);
  for (const scute_event& e : seen.reported) {
    EXPECT_EQ(e.outcome, SCUTE_OUTCOME_DETECTED);
    EXPECT_EQ(e.finder, SCUTE_FINDER_CHECK);
  }
  EXPECT_EQ(seen.reported[0].object, oid);
  EXPECT_EQ(seen.reported[1].kind, SCUTE_EVENT_PARITY);
  seen.reported.clear();
  f.check(true);
  ASSERT_EQ(seen.reported.size(), 2u);
  EXPECT_EQ(seen.reported[0].outcome, SCUTE_OUTCOME_REPAIRED);
  EXPECT_EQ(seen.reported[1].outcome, SCUTE_OUTCOME_REPAIRED);
  f.expect_sound();
}

TEST_F(event_log, AlikeAndCloseIsOne) {
  const uint64_t row = f.in().s.geo.row_size;
  post(event_at(5 * apart));
  post(event_at(5 * apart + row));
  post(event_at(5 * apart - 4096));
  post(event_at(5 * apart, SCUTE_EVENT_PARITY));
  post(event_at(9 * apart));
  pool::event lost = event_at(5 * apart);
  lost.outcome = SCUTE_OUTCOME_LOST;
  post(lost);
  pool::event scrubbed = event_at(5 * apart);
  scrubbed.finder = SCUTE_FINDER_SCRUB;
  post(scrubbed);
  drain();
  ASSERT_EQ(seen.reported.size(), 5u);
  EXPECT_EQ(seen.reported[0].count, 3u);
  EXPECT_EQ(seen.reported[0].offset, 5 * apart - 4096);
  EXPECT_EQ(seen.reported[0].length, 4096 + row + 64);
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(seen.reported[i].count, 1u);
  post(event_at(5 * apart));
  drain();
  EXPECT_EQ(seen.reported.size(), 6u) << "a reported event does not change";
  seen.expect_in_order();
}

TEST_F(event_log, FinderOfTheThread) {
  pool::event e = event_at(apart);
  e.finder = scute_finder{};
  post(e);
  {
    const pool::finder_scope scrubbing(SCUTE_FINDER_SCRUB);
    post(e);
    {
      const pool::finder_scope opening(SCUTE_FINDER_OPEN);
      post(e);
    }
    std::thread([&] { post(e); }).join();
    post(e);
  }
  drain();
  ASSERT_EQ(seen.reported.size(), 3u);
  EXPECT_EQ(seen.reported[0].finder, SCUTE_FINDER_ACCESS);
  EXPECT_EQ(seen.reported[0].count, 2u) << "another thread's finder is its own";
  EXPECT_EQ(seen.reported[1].finder, SCUTE_FINDER_SCRUB);
  EXPECT_EQ(seen.reported[1].count, 2u);
  EXPECT_EQ(seen.reported[2].finder, SCUTE_FINDER_OPEN);
}

// EVENT-1.
TEST_F(event_log, AFullQueueCountsWhatItDrops) {
  for (uint64_t i = 0; i < pool::event_log::queue_size + 100; ++i) post(event_at(apart));
  drain();
  ASSERT_EQ(seen.reported.size(), 1u);
  EXPECT_EQ(seen.reported[0].count, pool::event_log::queue_size);
  EXPECT_EQ(seen.reported[0].dropped, 100u);
  EXPECT_EQ(ring().back().dropped, 100u);
  for (unsigned lap = 0; lap < 5; ++lap) {
    post(event_at(apart));
    drain();
    EXPECT_EQ(seen.reported.back().count, 1u) << "the queue works on";
    EXPECT_EQ(seen.reported.back().dropped, 0u);
  }
}

// EVENT-2.
TEST_F(event_log, ThreadsPostWhileThreadsReport) {
  constexpr uint64_t posters = 4, each = 20000;
  std::atomic<uint64_t> posting{posters};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < posters; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < each; ++i) post(event_at((1 + (t * 7 + i) % 50) * apart));
      --posting;
    });
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (posting != 0) drain();
    });
  for (std::thread& t : threads) t.join();
  drain();
  EXPECT_EQ(seen.places(), posters * each) << "reported, or counted as dropped";
  seen.expect_in_order();
  EXPECT_FALSE(f.in().s.events.pending());
  EXPECT_EQ(ring().size(), 48u);
  EXPECT_EQ(ring().back().sequence, seen.reported.back().sequence);
}

pool::event_log* interrupted = nullptr;
std::atomic<uint64_t> from_handler{0};

// EVENT-1.
TEST_F(event_log, PostingInterruptsPosting) {
  interrupted = &f.in().s.events;
  from_handler = 0;
  struct sigaction act{}, before{};
  act.sa_handler = [](int) {
    interrupted->post(event_at(2 * apart));
    ++from_handler;
  };
  ASSERT_EQ(0, ::sigaction(SIGUSR1, &act, &before));
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> posted{0};
  std::thread busy([&] {
    while (!stop) {
      post(event_at(apart));
      ++posted;
      drain();
    }
  });
  for (int i = 0; i < 20000; ++i) ::pthread_kill(busy.native_handle(), SIGUSR1);
  stop = true;
  busy.join();
  ASSERT_EQ(0, ::sigaction(SIGUSR1, &before, nullptr));
  drain();
  EXPECT_GT(from_handler, 0u);
  EXPECT_EQ(seen.places(), posted + from_handler);
  seen.expect_in_order();
}

TEST_F(event_log, TheRingKeepsTheLast) {
  for (uint64_t i = 1; i <= 100; ++i) {
    post(event_at(i * 4096));
    drain();
    const auto kept = ring();
    ASSERT_EQ(kept.size(), std::min<uint64_t>(i, 48));
    ASSERT_EQ(kept.back().sequence, i);
    ASSERT_EQ(kept.front().sequence, i <= 48 ? 1 : i - 47);
    ASSERT_EQ(kept.back().offset, i * 4096);
  }
}

TEST_F(event_log, SessionsGoOnCounting) {
  post(event_at(apart));
  drain();
  const uint64_t epoch = f.info().epoch;
  post(event_at(2 * apart));
  reopen();  // closing reports the waiting events
  auto kept = ring();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[1].epoch, epoch);
  post(event_at(3 * apart));
  reopen();
  kept = ring();
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[2].sequence, 3u);
  EXPECT_EQ(kept[2].epoch, epoch + 1);
  f.expect_sound();
  seen.expect_in_order();
}

// EVENT-3.
TEST_F(event_log, TornAndForeignLinesAreIgnored) {
  for (uint64_t i = 1; i <= 5; ++i) post(event_at(i * apart));
  drain();
  ASSERT_EQ(ring().size(), 5u);
  // One copy, or two, are not missed.
  for (unsigned copy = 0; copy < 2; ++copy) {
    for (uint64_t k = 0; k < 64; ++k) line(copy, 3)[k] = std::byte{0xa5};
    EXPECT_EQ(ring().size(), 5u);
  }
  // Every bit of a line counts.
  std::byte good[64];
  std::memcpy(good, line(2, 3), 64);
  for (unsigned bit = 0; bit < 512; ++bit) {
    line(2, 3)[bit / 8] ^= std::byte{1} << bit % 8;
    const auto kept = ring();
    ASSERT_EQ(kept.size(), 4u) << "bit " << bit;
    ASSERT_EQ(kept[2].sequence, 4u);
    std::memcpy(line(2, 3), good, 64);
  }
  // A line in another's place, and a line of another pool.
  std::memcpy(line(0, 9), line(0, 4), 64);
  EXPECT_EQ(ring().size(), 5u);
  pool_file other;
  other.create(4 * mib);
  std::memcpy(other.raw(1024 + 4 * 64), line(0, 4), 64);
  EXPECT_TRUE(pool::read_event_ring(other.in().s).empty());
  // Half of the ring is noise: the rest can be read, and counting continues after it.
  for (uint64_t n = 1; n < 4; ++n)
    for (unsigned copy = 0; copy < 3; ++copy) std::memset(line(copy, n), 0x5a, 64);
  reopen();
  post(event_at(7 * apart));
  drain();
  const auto kept = ring();
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].sequence, 4u);
  EXPECT_EQ(kept[2].sequence, 6u);
}

TEST_F(event_log, ReadOnlyReportsAndWritesNothing) {
  const scute_oid oid = f.alloc(pattern(1, 100));
  post(event_at(apart));
  f.close();
  bytes file = read_file(f.path);
  file[f.offset_of(oid) + 10] ^= 1;
  write_file(f.path, file);
  seen.reported.clear();
  scute_options o = opening();
  o.flags = SCUTE_READONLY;
  listen(o);
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  EXPECT_TRUE(f.read(oid) == pattern(1, 100));
  ASSERT_EQ(seen.reported.size(), 1u);
  EXPECT_EQ(seen.reported[0].sequence, 2u);
  EXPECT_EQ(seen.reported[0].object, oid);
  const auto kept = ring();
  ASSERT_EQ(kept.size(), 1u) << "the ring is what the file holds";
  EXPECT_EQ(kept[0].offset, apart);
  f.close();
  EXPECT_TRUE(read_file(f.path) == file);
}

// A callback that calls back gets an error, and nothing hangs.
struct intruder {
  pool_file* f;
  int events = 0, reported = 0;
  static void on_event(void* arg, const scute_event*) {
    auto* self = static_cast<intruder*>(arg);
    ++self->reported;
    self->events = scute_events(*self->f, [](void*, const scute_event*) {}, nullptr);
    self->f->in().s.events.post(event_at(apart, SCUTE_EVENT_FREE));
    self->f->in().s.events.notify_all(self->f->in().s);
    if (self->reported == 3) self->f->in().s.events.call(nullptr, nullptr);
  }
};

TEST(event_log_callback, MustNotCallTheLibrary) {
  pool_file f;
  intruder who{&f};
  scute_options o = options();
  o.event = &intruder::on_event;
  o.event_arg = &who;
  f.create(o);
  f.in().s.events.post(event_at(apart));
  const scute_info i = f.info();
  EXPECT_EQ(i.epoch, 1u);
  EXPECT_EQ(who.reported, 3) << "an event that the callback posts is reported after it";
  EXPECT_EQ(who.events, SCUTE_E_INVALID);
}

}  // namespace
}  // namespace scute::test

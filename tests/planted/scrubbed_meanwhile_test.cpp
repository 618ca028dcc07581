// SPDX-License-Identifier: BSD-3-Clause
// Scrubs and repairs concurrently with commits, and with each other.
#include <gmock/gmock.h>

#include <functional>
#include <future>
#include <random>

#include "core/scrub/damage_classifier.hpp"
#include "planted/repaired_meanwhile.hpp"

namespace scute::test {
namespace {

// FRAGREF-2. Damage makes the object shorter, and other damage strikes its bytes after that end.
TEST_P(repaired_meanwhile, scrub_of_bytes_after_a_damaged_headers_end) {
  if (GetParam().size < several) return;
  format::fragment_header h;
  std::memcpy(&h, f.raw(object.header), sizeof h);
  const uint64_t generation = format::meta_generation(h.meta);
  h.meta = format::make_meta(808, format::role::live, static_cast<uint16_t>(generation));
  const pool::fragment second = object.fragment(1);
  const uint64_t page = second.payload / 4096 * 4096;
  std::memcpy(f.raw(object.header), &h, sizeof h);
  flip(second.payload + 5);
  const pool::cell c = pool::cell_of(s->geo, page);
  unsigned seen = 0;
  scrub::for_each_fragment_ref(*s, f.in().heap->zones().get(c.zone), c.zone,
                               page - s->geo.zone_offset(c.zone), scrub::that::touches,
                               [&](const scrub::fragment_ref& x) {
                                 if (x.f.header != second.header) return;
                                 ++seen;
                                 EXPECT_FALSE(scrub::looks_sound(*s, x));
                               });
  EXPECT_EQ(seen, 1u);
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_scrub(f.pool, nullptr, &r));
  EXPECT_EQ(r.lost, 0u);
  EXPECT_TRUE(f.read(oid) == pattern(1, GetParam().size));
  f.expect_sound();
}

// CLASSIFY-2. The head vouches for the part of the slot that the object does not use. The head
// is damaged, and another thread repairs it while a scrub looks.
TEST_P(repaired_meanwhile, scrub_while_another_repairs_the_head) {
  const scrub::fragment_ref unused = beyond_the_object();
  flip(object.payload + 7);
  std::vector<std::string> reported;
  scrub::suspect_repairer scrub(*s, *f.in().heap, true, [&reported](const scrub::finding& what) {
    reported.emplace_back(what.what);
  });
  repair_at(1);
  {
    const pool::library_call within;
    scrub.look_into({.zone = zone(), .g = unused});
    EXPECT_EQ(this_thread_waits.pass, nullptr);
    scrub.end_zone(zone());
  }
  repairer->join();
  EXPECT_THAT(reported, ::testing::IsEmpty());
  EXPECT_EQ(scrub.tally(zone()).damaged, 0u);
  EXPECT_EQ(s->lost.load(), 0u);
  EXPECT_TRUE(f.read(oid) == pattern(1, 8150));
  f.expect_sound();
}

// CLASSIFY-2. Two commits to the head one after the other, and a scrub that looks while each is in
// the middle of it.
TEST_P(repaired_meanwhile, scrub_during_two_commits_to_the_head) {
  const scrub::fragment_ref unused = beyond_the_object();
  if (s->parity_is_log) return;  // its commits hold their columns
  pool::lane& l = s->lanes.back();
  int commits = 0;
  std::function<void()> go_on = [&] {
    flip(object.payload + (commits == 0 ? 7 : 70));
    ++l.applied;
    if (++commits == 2) return void(this_thread_waits = {});
    ++l.begun;
    flip(object.payload + 70);
  };
  l.begun.store(l.applied.load() + 1);
  flip(object.payload + 7);
  this_thread_waits.arg = &go_on;
  this_thread_waits.call = [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); };
  EXPECT_EQ(scrub::classify(*s, unused), scrub::damage_class::sound);
  this_thread_waits = {};
  EXPECT_EQ(commits, 2);
}

// REPAIR-7. One object is lost; each repaired object after it is a reason to try again.
TEST_P(repaired_meanwhile, scrub_reports_a_loss_once) {
  std::vector<scute_oid> others;
  for (uint64_t i = 0; i < 3; ++i) others.push_back(f.alloc(pattern(20 + i, GetParam().size)));
  f.in().drain();
  std::mt19937_64 random(11);
  const uint64_t payload = object.payload;
  const pool::cell c = pool::cell_of(s->geo, payload);
  for (uint64_t i = 0; i < small; ++i) {
    flip(payload + i, static_cast<int>(random() % 255 + 1));
    flip(pool::parity_offset(s->geo, c.zone, c.column) + i, static_cast<int>(random() % 255 + 1));
  }
  const auto losses = [this](auto&& walk) {
    const uint64_t lost_before = s->lost.load();
    uint64_t reported = 0;
    scute_report r{};
    r.struct_size = sizeof r;
    const auto count = [](void* arg, const scute_event* e) {
      *static_cast<uint64_t*>(arg) += e->outcome == SCUTE_OUTCOME_LOST ? e->count : 0;
    };
    uint64_t before = 0;
    SCUTE_OKAY_E(scute_events(f.pool, count, &before));
    walk(&r);
    SCUTE_OKAY_E(scute_events(f.pool, count, &reported));
    EXPECT_EQ(r.lost, 1u);
    EXPECT_EQ(reported - before, 1u);
    EXPECT_EQ(s->lost.load() - lost_before, 1u);
  };
  const auto strike = [&] {
    for (const scute_oid other : others) flip(f.offset_of(other) + 9);
  };
  strike();
  losses([this](scute_report* r) { SCUTE_OKAY_E(scute_scrub(f.pool, nullptr, r)); });
  strike();
  losses([this](scute_report* r) {
    SCUTE_OKAY_E(scute_check(f.pool, 1, r, nullptr, nullptr, nullptr));
  });
  for (uint64_t i = 0; i < others.size(); ++i)
    EXPECT_TRUE(f.read(others[i]) == pattern(20 + i, GetParam().size));
  const void* at = nullptr;
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_get_verified(f.pool, oid, &at));
}

// A commit in the middle of its work: what it writes and the parity are in step, and no checksum
// accepts them. A repair that was begun for some damage before lets it end (REPAIR-6).
TEST_P(repaired_meanwhile, repair_during_a_commit_that_pauses) {
  if (s->parity_is_log) return;  // its commits hold their columns
  pool::lane& l = s->lanes.back();
  const uint64_t payload = object.fragment(0).payload;
  const pool::cell c = pool::cell_of(s->geo, payload);
  const auto write = [&] {
    for (uint64_t i = 0; i < 40; ++i) {
      f.raw(payload + i)[0] ^= std::byte{0x33};
      f.raw(pool::parity_offset(s->geo, c.zone, c.column) + i)[0] ^= std::byte{0x33};
    }
  };
  write();
  l.begun.store(l.applied.load() + 1);
  std::function<void()> go_on = [&] {
    write();
    l.applied.store(l.begun.load());
  };
  this_thread_waits.arg = &go_on;
  this_thread_waits.call = [](void* arg) {
    auto* then = static_cast<std::function<void()>*>(arg);
    this_thread_waits = {};
    (*then)();
  };
  {
    const pool::library_call within;
    EXPECT_NO_THROW(repair::repair_fragment(*s, nullptr, object.fragment(0), "object"));
  }
  EXPECT_EQ(this_thread_waits.call, nullptr) << "no thread waited for the commit";
  EXPECT_EQ(s->lost.load(), 0u);
  EXPECT_TRUE(f.read(oid) == pattern(1, GetParam().size));
  f.expect_sound();
}

// A scrub's repair finds that a commit has come first, and writes nothing (REPAIR-4). The commit
// has not written the bytes that were damaged after its own test. They are in no parity, and may
// not get there.
TEST_P(repaired_meanwhile, scrub_whose_repair_comes_too_late) {
  if (!s->parity_is_log) return;  // elsewhere a repair waits for the commit, or the commit for it
  // Of the columns that the commit wants the first: it has no others while it waits for them.
  scute_oid other = 0;
  uint64_t place = 0;
  const uint32_t first =
      std::min(pool::stripe_of(*s, object.header), pool::stripe_of(*s, object.payload));
  for (int i = 0; i < 100 && place == 0; ++i) {
    other = f.alloc(pattern(30, 20000));
    ASSERT_NE(other, 0u);
    for (uint64_t at = 100; at < 19000 && place == 0; at += 4096)
      if (pool::stripe_of(*s, f.offset_of(other) + at) < first) place = at;
  }
  ASSERT_NE(place, 0u);
  f.in().drain();
  const uint32_t kept = pool::stripe_of(*s, f.offset_of(other) + place);
  transaction tx(f);
  void *p = nullptr, *q = nullptr;
  SCUTE_OKAY(scute_tx_add_range(tx, oid, 20, 8, &p));
  SCUTE_OKAY(scute_tx_add_range(tx, other, place, 8, &q));
  std::memset(p, 7, 8);
  std::memset(q, 8, 8);
  bytes content = pattern(1, GetParam().size);
  std::fill_n(content.begin() + 20, 8, static_cast<unsigned char>(7));
  std::promise<void> looked, committed;
  std::thread scrub;
  std::function<void()> repair_looked = [&] {
    this_thread_waits = {};
    s->locks.unlock_exclusive(kept);
    looked.set_value();
    committed.get_future().wait();
  };
  std::function<void()> commit_waits = [&] {  // it has tested its fragments
    this_thread_waits = {};
    flip(payload(300));
    scrub = std::thread([&] {
      this_thread_waits.arg = &repair_looked;
      this_thread_waits.pass = [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); };
      const pool::library_call within;
      scrub::suspect_repairer repairs(*s, *f.in().heap, true, [](const scrub::finding&) {});
      const pool::cell c = pool::cell_of(s->geo, payload(300));
      repairs.look_into({.zone = c.zone, .column = c.column / 64 * 64, .length = 64, .g = {}});
      repairs.end_zone(c.zone);
      EXPECT_EQ(this_thread_waits.pass, nullptr) << "nothing was repaired";
    });
    looked.get_future().wait();
  };
  s->locks.lock_exclusive(kept);
  this_thread_waits.arg = &commit_waits;
  this_thread_waits.call = [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); };
  SCUTE_OKAY(tx.commit());
  ASSERT_TRUE(scrub.joinable());
  committed.set_value();
  scrub.join();
  EXPECT_TRUE(f.read(oid) == content) << scute_errormsg();
  expect_repairable();
}

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// The core of a store: what a section costs, and what files and devices can be wrong with.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "store_fixture.hpp"
#include "support/wait.hpp"

namespace scute::core::pow {
namespace {

INSTANTIATE_TEST_SUITE_P(, Store, ::testing::Values(protection::none, protection::always),
                         [](const auto& p) {
                           return std::string(p.param == protection::none ? "None" : "Always");
                         });

// POW-2: its own fence, one; and nothing but the lines of the batch.
TEST_P(Store, WhatASectionCosts) {
  make();
  put(1, std::string(256, 'a'));
  uint64_t fences = 0, lines = 0;
  const auto read = [&] {
    fences = lines = 0;
    for (uint32_t i = 0; i < lanes_max; ++i)
      if (const lane* const l = db->parts().find_lane(i)) {
        fences += l->w.count.fences.get();
        lines += l->w.count.lines.get();
      }
  };
  read();
  const uint64_t fences_before = fences, lines_before = lines;
  put(1, std::string(256, 'b'));
  read();
  EXPECT_EQ(fences - fences_before, 1U);
  // 32 + 16 + 256 bytes; and their XOR.
  EXPECT_EQ(lines - lines_before, GetParam() == protection::none ? 5U : 6U);
  {
    section s(db->parts(), durability::strict);
    s.commit();
  }
  const uint64_t fences_after = fences;
  read();
  EXPECT_EQ(fences, fences_after) << "a section that only reads costs a fence";
}

TEST_P(Store, HeadPages) {
  make();
  put(1, "one");
  db.reset();
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  for (uint32_t lost = 0; lost < head_copies; ++lost) {
    std::ranges::copy(sound, bytes.begin());
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(lost * head_page), head_page, std::byte{7});
    EXPECT_EQ(open_fails(), SCUTE_OK) << lost;
    EXPECT_EQ(c->get(1), "one");
  }
  db.reset();
  std::ranges::copy(sound, bytes.begin());
  for (const uint32_t version : {0U, 1U, 2U, 99U}) {
    change_heads([&](file_head& h) { h.version = version; });
    EXPECT_EQ(open_fails(), SCUTE_E_VERSION) << version;
  }
  std::ranges::copy(sound, bytes.begin());
  change_heads([](file_head& h) { h.segments = 1000; });
  EXPECT_EQ(open_fails(), SCUTE_E_TRUNCATED);
  std::ranges::copy(sound, bytes.begin());
  for (uint32_t i = 0; i < head_copies; ++i) bytes[i * head_page + 60] ^= std::byte{1};
  EXPECT_EQ(open_fails(), SCUTE_E_CORRUPT);
  std::fill_n(bytes.begin(), first_segment, std::byte{0});
  EXPECT_EQ(open_fails(), SCUTE_E_FORMAT);
  // Right checksums, and geometry that no library has written.
  std::ranges::copy(sound, bytes.begin());
  change_heads([](file_head& h) { h.segments = h.segment_size = uint64_t{1} << 32; });
  EXPECT_EQ(open_fails(), SCUTE_E_CORRUPT);
  std::ranges::copy(sound, bytes.begin());
  change_heads([](file_head& h) {
    h.protect = static_cast<uint32_t>(protection::always);
    h.segment_size = 8 * head_page;
  });
  EXPECT_EQ(open_fails(), SCUTE_E_CORRUPT);
}

// A batch goes over several segments. Until all entries know where their records are, the cleaner
// takes none of these.
TEST_P(Store, SegmentsArePinnedUntilEntriesKnowThem) {
  make();
  put(0, "small");
  entry& first = *c->t->find(0);
  const lane& l = *db->parts().find_lane(1);
  const uint64_t before = l.finished();
  const auto pinned = [&] {
    uint32_t n = 0;
    for (uint32_t i = 0; i < db->parts().space->count(); ++i)
      n += db->parts().space->note(i).pinned.load() ? 1 : 0;
    return n;
  };
  prefer_slot(1);
  first.state.fetch_or(entry_locked);
  std::thread other([&] {
    prefer_slot(1);
    section s(db->parts(), durability::strict);
    for (uint64_t i = 0; i < 3; ++i) c->put(s, i, std::string(50'000, 'x'));
    s.commit();
  });
  while (l.finished() == before) std::this_thread::yield();
  EXPECT_EQ(pinned(), 2U);
  first.state.fetch_and(~uint32_t{entry_locked});
  other.join();
  prefer_slot(0);
  EXPECT_EQ(pinned(), 0U);
}

// POW-5: the first `later` section that there is comes while the cleaner is at what it replaces.
TEST_P(Store, TheFirstLaterSectionDuringCleaning) {
  make();
  for (uint64_t i = 0; i < 40; ++i) put(i % 2, std::string(3000, 'a'));
  const lane& l = *db->parts().find_lane(1);
  file().on_read = [this] {
    section s(db->parts(), durability::later);
    for (uint64_t i = 0; i < 2; ++i) c->put(s, i, "new");
    s.commit();
  };
  ASSERT_EQ(db->clean(1), 1U);
  EXPECT_FALSE(file().on_read);
  EXPECT_EQ(l.durable(), l.finished())
      << "the replaced object is void, and its replacement is missing";
}

// POW-7: a thread stays in its slot, which knows what it has seen.
TEST_P(Store, ASyncInsideASectionTakesNoOtherSlot) {
  make();
  uint32_t slots[2]{};
  for (uint32_t& slot : slots) {
    section s(db->parts(), durability::later);
    c->put(s, 1, "text");
    db->sync();
    slot = s.where().number;
    s.commit();
  }
  EXPECT_EQ(slots[0], slots[1]);
}

// Index 0 and tag 0 would be a null ref: in some sessions, and when tags start again.
TEST_P(Store, NoIdIsNull) {
  make();
  for (const uint64_t session : {255, 511}) {
    db->parts().head.session = session;
    section s(db->parts(), durability::strict);
    EXPECT_NE(s.insert(*c->t, session - 255), 0U);
    s.abort();
  }
  for (uint32_t i = 0; i < 0x10001; ++i) {
    section s(db->parts(), durability::strict);
    ASSERT_NE(s.insert(*c->t, 0), 0U);
    s.abort();
  }
}

// An object of another size than its table says was written by no program.
TEST_P(Store, ObjectsOfAnotherSizeAreRefused) {
  make();
  put(1, "four");
  c->t->size = 8;
  EXPECT_EQ(db->parts().find_table(c->t->number)->size, 8U);
  put(2, "whatever");
  {
    section s(db->parts(), durability::strict);
    s.edit(db->parts().table_at(catalogue_table), c->t->number, section::any_tag);
    s.commit();
  }
  db.reset();
  store_options w;
  w.limit.max_size = bytes.size();
  db = store::open(std::make_unique<plain_medium>(bytes), "plain", bytes.size(), w);
  c = std::make_unique<cells>();
  try {
    c->t = &db->attach("cells", 7, 8, true, *c);
    FAIL();
  } catch (const failure& f) {
    EXPECT_EQ(f.code(), SCUTE_E_CORRUPT);
  }
}

TEST_P(Store, LostPagesAreRepairedOrReported) {
  make();
  for (uint64_t i = 0; i < 40; ++i) put(i, std::string(2000, static_cast<char>('a' + i % 26)));
  db->close();
  db.reset();
  const std::vector<std::byte> sound(bytes.begin(), bytes.end());
  uint64_t refused = 0;
  for (uint64_t page = first_segment / head_page; page < bytes.size() / head_page; ++page) {
    std::ranges::copy(sound, bytes.begin());
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(page * head_page), head_page,
                std::byte{0x5a});
    const scute_error e = open_fails();
    if (GetParam() == protection::always) {
      ASSERT_EQ(e, SCUTE_OK) << page;
    } else if (e != SCUTE_OK) {
      ASSERT_EQ(e, SCUTE_E_CORRUPT);
      ++refused;
      std::ranges::copy(sound, bytes.begin());
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(page * head_page), head_page,
                  std::byte{0x5a});
      reopen(true);
      EXPECT_GT(db->recovered().lost, 0U);
      for (const auto& [i, text] : c->texts)
        ASSERT_EQ(text, std::string(2000, static_cast<char>('a' + i % 26)));
      continue;
    }
    if (GetParam() == protection::always) {
      ASSERT_EQ(c->texts.size(), 40U);
    }
  }
  if (GetParam() == protection::none) {
    EXPECT_GT(refused, 8U);
  }
}

// Without protection a damaged byte is lost.
class Unprotected : public Store {};
INSTANTIATE_TEST_SUITE_P(, Unprotected, ::testing::Values(protection::none),
                         [](const auto&) { return std::string("None"); });

// A loss is reported by table and objects, as far as the bytes say, and by lane and segment.
TEST_P(Unprotected, DamageIsReportedByTableAndObjects) {
  make();
  for (uint64_t i = 0; i < 6; ++i) {
    section s(db->parts(), durability::strict);
    for (uint64_t k = 0; k < 3; ++k) c->put(s, 10 * i + k, std::string(200, 'x'));
    s.commit();
  }
  db->close();
  // A byte of an object of the third section: its head says which objects it was about.
  const std::string three(200, 'x');
  const auto first = std::search(bytes.begin(), bytes.end(), three.begin(), three.end(),
                                 [](std::byte b, char x) { return b == std::byte(x); });
  const ptrdiff_t frame = (32 + 3 * 216 + 63) / 64 * 64;
  *(first + 2 * frame + 5) ^= std::byte{1};
  db.reset();
  std::string reported;
  try {
    reopen();
    FAIL();
  } catch (const failure& f) {
    EXPECT_EQ(f.code(), SCUTE_E_CORRUPT);
    reported = f.what();
  }
  EXPECT_NE(reported.find("of lane 1, session 1, in segment"), std::string::npos) << reported;
  EXPECT_NE(reported.find("objects 20 to 22 of table cells (3 records)"), std::string::npos)
      << reported;
  reopen(true);
  EXPECT_EQ(c->texts.size(), 15U);
  EXPECT_EQ(db->recovered().lost, 1U);
  EXPECT_TRUE(db->check(false, true).damage.empty());
  db->close();
  // A loss that the caller has accepted is not found again.
  reopen();
  EXPECT_EQ(c->texts.size(), 15U);
}

// No frame lies after them from which recovery could learn how much is missing.
TEST_P(Unprotected, UnreadablePagesAtTheEndAreReported) {
  make();
  for (uint64_t i = 0; i < 10; ++i) put(i, std::string(2000, '*'));
  db->close();
  uint64_t end = bytes.size();
  while (bytes[end - 1] != std::byte{'*'}) --end;
  plain_medium::lost_from = end / head_page * head_page;
  plain_medium::lost_to = plain_medium::lost_from + head_page;
  EXPECT_EQ(open_fails(), SCUTE_E_CORRUPT);
  reopen(true);
  EXPECT_EQ(db->recovered().lost, 1U);
  EXPECT_GE(c->texts.size(), 7U);
  EXPECT_LT(c->texts.size(), 10U);
  plain_medium::lost_from = plain_medium::lost_to = 0;
}

// A victim in which something that counts is not found stays as it is: memory and other copies may
// have it.
TEST_P(Unprotected, TheCleanerKeepsWhatItCannotRead) {
  make();
  for (uint64_t i = 0; i < 40; ++i) put(i, std::string(2000, i == 31 ? '*' : 'a'));
  for (uint64_t i = 0; i < 30; ++i) put(i, std::string(2000, 'z'));
  // The record that still counts in the first segment.
  const std::string text(2000, '*');
  const auto at = std::search(bytes.begin(), bytes.end(), text.begin(), text.end(),
                              [](std::byte b, char x) { return b == std::byte(x); });
  const auto segment =
      static_cast<uint64_t>(at - bytes.begin() - static_cast<ptrdiff_t>(first_segment)) /
      (72 * 1024);
  *at ^= std::byte{1};
  db->clean(100);
  EXPECT_EQ(db->parts().space->note(static_cast<uint32_t>(segment)).what.load(), use::full);
  uint64_t lost = 0;
  for (const auto& d : db->check(false, false).damage) lost += d.lost;
  EXPECT_EQ(lost, 1U);
  *at ^= std::byte{1};
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

// POW-16: the bytes that count are those that entries know of, whatever tombstones were dropped.
TEST_P(Store, TombstonesThatWereDroppedCountNowhere) {
  make();
  const auto erase = [this](uint64_t i) {
    section s(db->parts(), durability::strict);
    c->erase(s, i);
    s.commit();
  };
  for (int round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 30; ++i) put(i, std::string(2000, 'a'));
    for (uint64_t i = 0; i < 30; ++i) erase(i);
    db->clean(100);
    for (uint64_t i = 0; i < 3; ++i) put(100 + i, std::string(30'000, 'x'));
    for (uint64_t i = 0; i < 30; ++i) put(i, "again");
    for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << round << ": " << d.text;
  }
}

// POW-7: locks come and go, and what was noted of them goes with the next syncs.
TEST_P(Store, NothingIsKeptOfLocksUnderWhichAllIsDurable) {
  make();
  const auto locks = std::make_unique<char[]>(100'000);
  for (uint64_t i = 0; i < 100'000; ++i) {
    section s(db->parts(), durability::later);
    s.add_lock(&locks[i], [](void*) {});
    c->put(s, i % 10, "text");
    s.commit();
    if (i % 100 == 0) db->sync();
  }
  EXPECT_LT(db->parts().locks.size(), 10'000U);
}

// POW-14: without an index that is free for certain there is another one, and when there is none
//         what was erased becomes durable.
// The cleaner ends segments of idle threads under their slots: that is no section. A look that
// meets such a moment is followed by others (scute_pow_close()).
TEST_P(Store, ASlotTakenForAMomentIsNoUse) {
  make();
  state& s = db->parts();
  std::atomic<bool> go{true};
  std::thread taker([&] {
    while (go) s.leave_slot(s.take_slot());
  });
  for (int i = 0; i < 100; ++i) test::wait_until([&] { return !s.is_in_use(); });
  go = false;
  taker.join();
  thread_slot& mine = s.take_slot();
  EXPECT_TRUE(s.is_in_use());
  s.leave_slot(mine);
  EXPECT_FALSE(s.is_in_use());
}

TEST_P(Store, IndexesComeBackWhenTheirEraseIsDurable) {
  make();
  cells free;
  free.t = &db->attach("free", 8, 0, false, free);
  const auto make_one = [&](durability how) {
    section s(db->parts(), how);
    const uint64_t index = free.make(s, "text");
    s.commit();
    return index;
  };
  const auto erase = [&](uint64_t index) {
    section s(db->parts(), durability::later);
    free.erase(s, index);
    s.commit();
  };
  EXPECT_EQ(make_one(durability::strict), 0U);
  erase(0);
  EXPECT_EQ(make_one(durability::later), 1U);
  db->sync();
  EXPECT_EQ(make_one(durability::later), 0U);
  erase(0);
  // No index is left above.
  section s(db->parts(), durability::later);
  s.insert(*free.t, db->parts().index_max() - 1);
  const lane& l = *db->parts().find_lane(s.where().number);
  EXPECT_LT(l.durable(), l.finished());
  EXPECT_EQ(s.take_index(*free.t), 0U);
  EXPECT_EQ(l.durable(), l.finished());
  EXPECT_EQ(s.take_index(*free.t), db->parts().index_max());
  s.abort();
}

// POW-10: what was written outside of sections is found.
TEST_P(Store, ComparesMemoryWithTheFile) {
  make();
  put(1, "one");
  EXPECT_TRUE(db->check(false, true).changed.empty());
  c->texts[1] = "two";
  EXPECT_EQ(db->check(false, true).changed.size(), 1U);
}

}  // namespace
}  // namespace scute::core::pow

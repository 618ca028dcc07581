// SPDX-License-Identifier: BSD-3-Clause
// POW-23: no id comes again.
#include <unordered_set>

#include "seal_fixture.hpp"

namespace scute::core::pow {
namespace {

class Ids : public Seals {
 protected:
  Ids() {
    make(protection::none);
    attach_free();
  }
  ~Ids() override { plain_medium::before_fence = {}; }
  void attach_free(bool recurs = false) {
    free = std::make_unique<cells>();
    free->t = &db->attach("free", 8, 0, false, *free, {}, recurs);
  }
  void open_again() {
    db->close();
    reopen();
    attach_free();
  }
  uint64_t id_of(uint64_t index) const {
    return make_id(index, tag_of(free->t->find(index)->state.load()));
  }
  // An index; its id is one that nothing has had.
  uint64_t made(size_t size = 8) {
    section s(db->parts(), durability::strict);
    const uint64_t i = free->make(s, std::string(size, 'x'));
    s.commit();
    EXPECT_TRUE(ids.insert(id_of(i)).second) << i << " " << (id_of(i) >> 48);
    return i;
  }
  void erase(uint64_t i) {
    section s(db->parts(), durability::strict);
    free->erase(s, i);
    s.commit();
  }
  void make_and_erase(uint64_t n, size_t size = 8) {
    std::vector<uint64_t> all;
    for (uint64_t k = 0; k < n; ++k) all.push_back(made(size));
    for (const uint64_t i : all) erase(i);
  }
  // Removes tombstones after it whose reason is unknown.
  void clean() {
    for (int round = 0; round < 3; ++round) {
      db->parts().end_idle_segments(state::idle::any);
      db->clean(1000);
      db->compact({});
    }
  }

  std::unique_ptr<cells> free;
  std::unordered_set<uint64_t> ids;
};

TEST_F(Ids, NoneRecursWhenAnIndexIsUsedUp) {
  for (int i = 0; i < 66000 && !HasFailure(); ++i) erase(made());
  EXPECT_LE(free->t->high(), 3U);
  clean();
  open_again();
  for (int i = 0; i < 1000 && !HasFailure(); ++i) erase(made());
  EXPECT_TRUE(db->check(false, true).damage.empty());
}

TEST_F(Ids, NoneRecursWhenItsTombstoneIsGone) {
  for (int session = 0; session < 4 && !HasFailure(); ++session) {
    for (int i = 0; i < 300; ++i) erase(made());
    for (int round = 0; round < 3; ++round) make_and_erase(200);
    clean();
    for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << d.text;
    open_again();
  }
  // Sections that abort have had their ids, too, as long as the store is open.
  for (int i = 0; i < 300; ++i) {
    section s(db->parts(), durability::strict);
    const uint64_t index = free->make(s, "never");
    EXPECT_TRUE(ids.insert(id_of(index)).second);
  }
}

TEST_F(Ids, NoneRecursAfterAKillInTheCleaner) {
  make_and_erase(400, 60);
  db->parts().end_idle_segments(state::idle::any);
  std::vector<std::vector<std::byte>> kills;
  plain_medium::before_fence = [&] { kills.emplace_back(bytes.begin(), bytes.end()); };
  db->clean(1000);
  db->compact({});
  plain_medium::before_fence = {};
  ASSERT_GT(kills.size(), 10U);
  const auto before = ids;
  for (size_t k = 0; k < kills.size() && !HasFailure(); ++k) {
    db.reset();
    std::ranges::copy(kills[k], bytes.begin());
    reopen();
    attach_free();
    ids = before;
    for (int i = 0; i < 410; ++i) made();
    EXPECT_TRUE(db->check(false, true).damage.empty()) << k;
  }
}

// Objects that are gone keep little room.
TEST_F(Ids, ErasedObjectsTakeHardlyAnyRoom) {
  make_and_erase(3000);
  clean();
  EXPECT_LT(db->parts().space->live_bytes(), 3000 * 16 / 10);
  const uint32_t tags = db->parts().head.tags;
  EXPECT_GE(tags, 2U);
  EXPECT_LE(tags, 4U) << "used up sooner than need be";
  open_again();
  EXPECT_EQ(db->parts().head.tags, tags);
  made();
}

// While a table is not open, the store does not know whether a caller keeps its ids.
TEST_F(Ids, OfATableThatIsNotOpen) {
  make_and_erase(200);
  db->close();
  reopen();
  clean();
  attach_free();
  for (int i = 0; i < 300; ++i) made();
}

// An older library leaves the numbers of the head as they are, and keeps no tombstones.
TEST_F(Ids, AfterAnOlderLibraryTheyBeginWithAGuess) {
  erase(made());
  db->close();
  for (uint32_t i = 0; i < head_copies; ++i) {
    file_head h;
    std::memcpy(&h, bytes.data() + i * head_page, sizeof h);
    h.session += 5;
    h.decided += 5;
    h.checksum = head_checksum(h);
    std::memcpy(bytes.data() + i * head_page, &h, sizeof h);
  }
  reopen();
  attach_free();
  EXPECT_EQ(db->parts().head.tags, unknown_tags(6));
  made();
  EXPECT_GT(id_of(made()) >> 48, 7U * 257);
}

// Maps and queues show no ids.
TEST_F(Ids, MapsAndQueuesUseThemAgain) {
  db->close();
  reopen();
  attach_free(true);
  uint64_t last = 0;
  for (int i = 0; i < 300; ++i) {
    section s(db->parts(), durability::strict);
    const uint64_t index = free->make(s, "x");
    s.commit();
    if (i != 0) {
      EXPECT_EQ(id_of(index), last);
    }
    last = id_of(index);
    erase(index);
  }
  clean();
  EXPECT_EQ(db->parts().head.tags, tag_of_none);
}

}  // namespace
}  // namespace scute::core::pow

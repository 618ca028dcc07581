// SPDX-License-Identifier: BSD-3-Clause
// The short way into a window (core/engine/logfree/short_commit.hpp): what goes it, what does not,
// and that what it writes is what the general way writes.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

class short_commit : public testing::Test {
 protected:
  void create(int parity = 1) {
    f.close();
    ::unlink(f.path.c_str());
    scute_options o;
    scute_options_init(&o);
    o.size = 8 * mib;
    o.protection = SCUTE_PROTECT_MLPC;
    o.engine = SCUTE_ENGINE_LOGFREE;
    o.parity = static_cast<uint32_t>(parity);
    f.create(o);
  }
  scute_counters counters() {
    scute_counters c{};
    c.struct_size = sizeof c;
    EXPECT_EQ(SCUTE_OK, scute_stats(f.pool, &c));
    return c;
  }
  uint64_t shorts() { return counters().shorts; }
  // Changes bytes of objects as a whole, in one transaction.
  void change(const std::vector<scute_oid>& oids, size_t from, size_t n, unsigned char by) {
    scute_tx* tx = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
    for (const scute_oid oid : oids) {
      void* at = nullptr;
      ASSERT_EQ(SCUTE_OK, scute_tx_open(tx, oid, &at)) << scute_errormsg();
      for (size_t i = 0; i < n; ++i)
        static_cast<unsigned char*>(at)[from + i] = static_cast<unsigned char>(by + i);
    }
    ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
  }

  pool_file f;
};

// SHORT-2
TEST_F(short_commit, WhatGoesTheShortWay) {
  create();
  std::vector<scute_oid> oids;
  for (int i = 0; i < 9; ++i) oids.push_back(f.alloc(pattern(static_cast<uint64_t>(i), 200)));
  const scute_oid whole = f.alloc(pattern(1, 4064)), large = f.alloc(pattern(2, 5000));
  uint64_t before = shorts();
  const auto went_short = [&] {
    const uint64_t now = shorts();
    const bool did = now != before;
    before = now;
    return did;
  };
  f.alloc(pattern(3, 300));
  EXPECT_TRUE(went_short()) << "a new object";
  change({oids[0]}, 0, 8, 1);
  EXPECT_TRUE(went_short());
  change({oids.begin(), oids.begin() + 8}, 16, 100, 2);
  EXPECT_TRUE(went_short()) << "eight";
  change(oids, 16, 100, 3);
  EXPECT_FALSE(went_short()) << "nine";
  change({whole}, 4000, 64, 4);
  EXPECT_TRUE(went_short()) << "a whole fragment";
  change({large}, 4000, 64, 5);
  EXPECT_FALSE(went_short()) << "two fragments";
  change({oids[0]}, 0, 0, 6);
  EXPECT_FALSE(went_short()) << "nothing changed";
  ASSERT_EQ(SCUTE_OK, f.free(oids[8]));
  EXPECT_TRUE(went_short()) << "freed";
  f.expect_sound();
}

// SHORT-1: parity, checksums and content are right, whatever differs and wherever it lies; with
//          several parities too.
TEST_F(short_commit, AnyChangeOfAnySize) {
  SCUTE_RANDOM(random);
  for (const int parity : {1, 2, 4}) {
    create(parity);
    std::map<scute_oid, bytes> model;
    std::vector<scute_oid> oids;
    for (int i = 0; i < 120; ++i) {
      const bytes content = pattern(static_cast<uint64_t>(i), random.between(1, 4064));
      oids.push_back(f.alloc(content));
      model[oids.back()] = content;
    }
    const uint64_t before = shorts();
    for (int round = 0; round < 400; ++round) {
      scute_tx* tx = nullptr;
      ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
      for (uint64_t k = random.between(1, 8); k != 0; --k) {
        const scute_oid oid = oids[random.between(0, oids.size() - 1)];
        bytes& content = model[oid];
        void* at = nullptr;
        ASSERT_EQ(SCUTE_OK, scute_tx_open(tx, oid, &at)) << scute_errormsg();
        for (uint64_t parts = random.between(0, 12); parts != 0; --parts) {
          const size_t from = random.between(0, content.size() - 1);
          const size_t n = random.between(1, std::min<size_t>(content.size() - from, 40));
          for (size_t i = 0; i < n; ++i)
            content[from + i] = static_cast<unsigned char>(random.between(0, 255));
          std::memcpy(static_cast<unsigned char*>(at) + from, content.data() + from, n);
        }
      }
      ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
    }
    EXPECT_GT(shorts() - before, 100u);
    for (const auto& [oid, content] : model) EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
    f.reopen();
    for (const auto& [oid, content] : model) EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
  }
}

// SHORT-3, LF-9: another transaction has changed a member meanwhile, by the short way as well.
TEST_F(short_commit, AMemberThatAnotherThreadChanged) {
  create();
  const scute_oid a = f.alloc(pattern(1, 100)), b = f.alloc(pattern(2, 100));
  scute_tx* tx = nullptr;
  ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
  for (const scute_oid oid : {a, b}) {
    void* at = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_open(tx, oid, &at));
    std::memset(at, 7, 100);
  }
  std::thread([&] { change({b}, 0, 100, 40); }).join();
  EXPECT_EQ(SCUTE_E_CONFLICT, scute_tx_commit(tx));
  EXPECT_TRUE(f.read(a) == pattern(1, 100));
  EXPECT_EQ(f.read(b)[0], 40);
  f.expect_sound();
}

// A range that reaches beyond its object leaves no trace of it in the transaction.
TEST_F(short_commit, ARefusedRangeIsForgotten) {
  create();
  const scute_oid a = f.alloc(pattern(1, 100)), b = f.alloc(pattern(2, 100)),
                  c = f.alloc(pattern(3, 5000));
  scute_tx* tx = nullptr;
  ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
  void* at = nullptr;
  EXPECT_EQ(SCUTE_E_RANGE, scute_tx_add_range(tx, a, 0, 4096, &at));
  std::thread([&] { change({a}, 0, 100, 40); }).join();
  ASSERT_EQ(SCUTE_OK, scute_tx_open(tx, c, &at));
  std::memset(at, 9, 5000);
  ASSERT_EQ(SCUTE_OK, scute_tx_open(tx, b, &at));
  std::memset(at, 8, 100);
  EXPECT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
  EXPECT_EQ(f.read(a)[0], 40);
  EXPECT_EQ(f.read(b)[99], 8);
  EXPECT_EQ(f.read(c)[4999], 9);
  f.expect_sound();
}

// An object outside the requested ranges can still be opened in place, and is then stored to the
// pool.
TEST_F(short_commit, RangesAndPlacesOfOneObject) {
  create();
  const scute_oid a = f.alloc(pattern(1, 200));
  scute_tx* tx = nullptr;
  ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
  void *range = nullptr, *place = nullptr, *within = nullptr;
  const void* seen = nullptr;
  ASSERT_EQ(SCUTE_OK, scute_tx_add_range(tx, a, 0, 8, &range));
  ASSERT_EQ(SCUTE_OK, scute_tx_get_range(tx, a, 100, 8, &seen));
  ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, a, 64, 16, &place)) << scute_errormsg();
  ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, a, 4, 4, &within));
  EXPECT_EQ(static_cast<char*>(within), static_cast<char*>(range) + 4);
  const auto* raw = reinterpret_cast<const unsigned char*>(f.raw(a & 0xffff'ffff'ffff));
  EXPECT_EQ(place, raw + 64);
  EXPECT_EQ(seen, raw + 100);
  std::memset(range, 7, 8);
  std::memset(place, 8, 16);
  EXPECT_EQ(raw[70], 8);
  ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
  auto want = pattern(1, 200);
  std::memset(want.data(), 7, 8);
  std::memset(want.data() + 64, 8, 16);
  EXPECT_TRUE(f.read(a) == want);
  f.expect_sound();
}

// A header that is damaged after its object was opened is repaired first, and does not get into the
// parity.
TEST_F(short_commit, AHeaderThatIsDamagedMeanwhile) {
  create();
  const scute_oid a = f.alloc(pattern(1, 200));
  for (const bool freed : {false, true}) {
    const uint64_t before = shorts();
    scute_tx* tx = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
    void* at = nullptr;
    ASSERT_EQ(SCUTE_OK, freed ? scute_tx_free(tx, a) : scute_tx_open(tx, a, &at));
    if (!freed) std::memset(at, 5, 200);
    const uint64_t meta = (a & 0xffff'ffff'ffff) - 32 + offsetof(format::fragment_header, meta);
    const_cast<std::byte*>(f.raw(meta + 5))[0] ^= std::byte{2};  // the kind of the header
    ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
    EXPECT_EQ(shorts(), before);
    f.expect_sound();
  }
}

// SHORT-4: of two columns' parity pages one is lost when the window is entered.
TEST_F(short_commit, ALostPageOfParity) {
  create();
  const scute_oid a = f.alloc(pattern(1, 2000)), b = f.alloc(pattern(2, 2000));
  const auto& g = f.in().s.geo;
  change({a, b}, 100, 1000, 1);
  ASSERT_EQ(SCUTE_OK, scute_drain(f.pool));
  const bytes noise(4096, 0x5a);
  for (uint64_t page = 0; page < g.row_size; page += 4096)
    f.in().pages->lose(g.zone_offset(0) + g.data_size + page,
                       reinterpret_cast<const std::byte*>(noise.data()));
  change({a, b}, 100, 1000, 2);
  EXPECT_EQ(f.read(a)[100], 2);
  f.expect_sound();
}

// SHORT-5, RESERVE-5: what goes the short way with ranges in place.
TEST_F(short_commit, WhatGoesTheShortWayInPlace) {
  create();
  std::vector<scute_oid> oids;
  for (int i = 0; i < 9; ++i) oids.push_back(f.alloc(pattern(static_cast<uint64_t>(i), 200)));
  const scute_oid whole = f.alloc(pattern(1, 4064)), large = f.alloc(pattern(2, 5000));
  const auto goes_short = [&](const std::vector<scute_oid>& in, int ranges, bool other) {
    const uint64_t before = shorts();
    scute_tx* tx = nullptr;
    EXPECT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
    void* at = nullptr;
    for (const scute_oid oid : in)
      for (int k = 0; k < ranges; ++k) {
        EXPECT_EQ(SCUTE_OK, scute_tx_inplace(tx, oid, static_cast<uint64_t>(16 * k), 8, &at));
        std::memset(at, static_cast<int>(before), 8);
      }
    if (other) {
      EXPECT_EQ(SCUTE_OK, scute_tx_open(tx, oids[8], &at));
      std::memset(at, static_cast<int>(before), 50);
    }
    EXPECT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
    return shorts() != before;
  };
  EXPECT_TRUE(goes_short({oids[0]}, 1, false));
  EXPECT_TRUE(goes_short({oids[0]}, 8, false));
  EXPECT_FALSE(goes_short({oids[0]}, 9, false)) << "nine ranges";
  EXPECT_TRUE(goes_short({oids.begin(), oids.begin() + 7}, 1, true)) << "in place and in a buffer";
  EXPECT_TRUE(goes_short({whole}, 3, false));
  EXPECT_FALSE(goes_short({large}, 1, false)) << "two fragments";
  f.expect_sound();
}

// Buffers, ranges in place, allocations and frees, committed and aborted, against a model.
TEST_F(short_commit, AnyCombinationWithRangesInPlace) {
  SCUTE_RANDOM(random);
  for (const int parity : {1, 2, 4}) {
    create(parity);
    std::map<scute_oid, bytes> model;
    for (int i = 0; i < 60; ++i) {
      const bytes content = pattern(static_cast<uint64_t>(i), random.between(1, 600));
      model[f.alloc(content)] = content;
    }
    const uint64_t before = shorts();
    for (int round = 0; round < 400; ++round) {
      scute_tx* tx = nullptr;
      ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
      std::map<scute_oid, bytes> next = model;
      std::map<scute_oid, bool> placed;
      for (uint64_t k = random.between(1, 6); k != 0; --k) {
        auto it = next.begin();
        std::advance(it, static_cast<long>(random.between(0, next.size() - 1)));
        auto& [oid, content] = *it;
        void* at = nullptr;
        if (placed.count(oid) == 0) placed[oid] = random.between(0, 2) != 0;
        if (!placed[oid]) {
          ASSERT_EQ(SCUTE_OK, scute_tx_open(tx, oid, &at)) << scute_errormsg();
          content[0] = static_cast<unsigned char>(random.between(0, 255));
          *static_cast<unsigned char*>(at) = content[0];
          continue;
        }
        for (uint64_t ranges = random.between(1, 3); ranges != 0; --ranges) {
          const size_t from = random.between(0, content.size() - 1);
          const size_t n = random.between(1, std::min<size_t>(content.size() - from, 100));
          ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, oid, from, n, &at)) << scute_errormsg();
          for (size_t i = from; i < from + n; ++i)
            content[i] = static_cast<unsigned char>(random.between(0, 255));
          std::memcpy(at, content.data() + from, n);
        }
      }
      if (random.between(0, 3) == 0) {
        ASSERT_EQ(SCUTE_OK, scute_tx_abort(tx));
      } else {
        ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
        model = next;
      }
    }
    EXPECT_GT(shorts() - before, 100u);
    for (const auto& [oid, content] : model) EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
    f.reopen();
    for (const auto& [oid, content] : model) EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
  }
}

// Another thread needs a column that is reserved: the transaction goes through the log, and
// neither loses anything.
TEST_F(short_commit, AColumnReservationThatAnotherThreadTakes) {
  create();
  std::vector<scute_oid> oids;
  for (int i = 0; i < 4; ++i) oids.push_back(f.alloc(pattern(static_cast<uint64_t>(i), 64)));
  for (const bool commits : {true, false}) {
    const uint64_t undo_spills = counters().undo_spills, before = shorts();
    scute_tx* tx = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
    void* at = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, oids[0], 8, 8, &at));
    const bytes was = f.read(oids[0]);
    std::memset(at, commits ? 0x77 : 0x78, 8);
    std::thread([&] { change({oids[1]}, 0, 64, commits ? 9 : 90); }).join();
    EXPECT_EQ(undo_spills + 1, counters().undo_spills);
    // One more of the same object, and one of another.
    ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, oids[0], 40, 8, &at)) << scute_errormsg();
    std::memset(at, 0x79, 8);
    ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, oids[2], 0, 64, &at)) << scute_errormsg();
    std::memset(at, 0x7a, 64);
    if (commits) {
      ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
      EXPECT_EQ(f.read(oids[0])[8], 0x77);
      EXPECT_EQ(f.read(oids[0])[47], 0x79);
      EXPECT_EQ(f.read(oids[2]), bytes(64, 0x7a));
    } else {
      ASSERT_EQ(SCUTE_OK, scute_tx_abort(tx));
      EXPECT_EQ(f.read(oids[0]), was);
    }
    EXPECT_EQ(shorts(), before + 1) << "the other thread's alone";
    EXPECT_EQ(f.read(oids[1])[63], commits ? 72 : 153);
    f.expect_sound();
  }
}

// The same while its owner commits, or opens another range: for ThreadSanitizer above all.
TEST_F(short_commit, AColumnReservationTakenDuringACommit) {
  create();
  std::vector<scute_oid> oids;
  for (int i = 0; i < 3; ++i) oids.push_back(f.alloc(pattern(static_cast<uint64_t>(i), 64)));
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (unsigned k = 0; !done.load(); ++k) change({oids[1]}, 0, 64, static_cast<unsigned char>(k));
  });
  constexpr unsigned times = 2000;
  for (unsigned k = 1; k <= times; ++k) {
    scute_tx* tx = nullptr;
    void* at = nullptr;
    EXPECT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
    for (const size_t i : {0, 2}) {
      EXPECT_EQ(SCUTE_OK, scute_tx_inplace(tx, oids[i], 8, 8, &at)) << scute_errormsg();
      if (at != nullptr) std::memset(at, static_cast<int>(k & 0xff), 8);
      for (unsigned wait = 0; wait < k % 300; ++wait) done.load();
    }
    EXPECT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
    if (HasFailure()) break;
  }
  done = true;
  other.join();
  EXPECT_EQ(f.read(oids[0])[15], times & 0xff);
  EXPECT_EQ(f.read(oids[2])[8], times & 0xff);
  f.expect_sound();
}

// A second range in place is refused while another thread has one of the object, and nothing of it
// is left.
TEST_F(short_commit, AnObjectThatAnotherThreadHasInPlace) {
  create();
  const scute_oid a = f.alloc(pattern(1, 100)), b = f.alloc(pattern(2, 100));
  scute_tx* tx = nullptr;
  ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
  void* at = nullptr;
  ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, a, 8, 8, &at));
  std::memset(at, 1, 8);
  std::thread([&] {
    scute_tx* other = nullptr;
    void* there = nullptr;
    EXPECT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &other));
    EXPECT_EQ(SCUTE_E_CONFLICT, scute_tx_inplace(other, a, 50, 8, &there));
    EXPECT_EQ(SCUTE_OK, scute_tx_inplace(other, b, 50, 8, &there)) << scute_errormsg();
    std::memset(there, 2, 8);
    EXPECT_EQ(SCUTE_OK, scute_tx_commit(other)) << scute_errormsg();
  }).join();
  ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
  EXPECT_EQ(f.read(a)[8], 1);
  EXPECT_EQ(f.read(b)[50], 2);
  f.expect_sound();
}

// TX-2: a damaged object is repaired when a range of it is opened in place. Damage next to the
// ranges that happens later does not get a checksum that accepts it, and a check finds it.
TEST_F(short_commit, DamageBeforeAndAfterARangeInPlace) {
  create();
  for (const bool before : {true, false}) {
    const scute_oid oid = f.alloc(pattern(1, 200));
    const uint64_t place = oid & 0xffff'ffff'ffff;
    bytes want = pattern(1, 200);
    const auto scribble = [&] { const_cast<std::byte*>(f.raw(place + 150))[0] ^= std::byte{4}; };
    const uint64_t shorts_before = shorts();
    scute_tx* tx = nullptr;
    if (before) scribble();
    ASSERT_EQ(SCUTE_OK, scute_tx_begin(f.pool, &tx));
    void* at = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_inplace(tx, oid, 8, 8, &at)) << scute_errormsg();
    EXPECT_EQ(std::memcmp(f.raw(place + 150), want.data() + 150, 50), 0);
    std::memset(at, 3, 8);
    std::memset(want.data() + 8, 3, 8);
    if (!before) scribble();
    ASSERT_EQ(SCUTE_OK, scute_tx_commit(tx)) << scute_errormsg();
    EXPECT_EQ(shorts(), shorts_before + (before ? 0 : 1));
    EXPECT_EQ(f.check(true).repaired, before ? 0u : 1u);
    EXPECT_TRUE(f.read(oid) == want);
    f.expect_sound();
  }
}

}  // namespace
}  // namespace scute::test

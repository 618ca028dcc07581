// SPDX-License-Identifier: BSD-3-Clause
// Threads that write the same objects without a lock. The test keeps all acknowledged versions
// outside the pool. An object holds one of them, whole, and a counter has counted every success.
// With all column blocks on eight stripes as well, so that lanes meet in stripes all the time.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "core/shared/parity/stripes.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr unsigned crew = 4;

class contention : public testing::TestWithParam<std::tuple<pool_kind, uint32_t, scratch::where>> {
 protected:
  void SetUp() override {
    pool::stripes::use(std::get<1>(GetParam()));
    scute_options o = options(4 * mib, std::get<0>(GetParam()));
    if (on_disk()) o.medium = SCUTE_MEDIUM_FILE;
    f.create(o);
  }
  void TearDown() override {
    EXPECT_EQ(f.in().s.lost.load(), 0u);
    f.expect_sound();
    f.reopen();
    f.expect_sound();
    f.close();
    pool::stripes::use(pool::stripes::count);
  }
  static bool on_disk() { return std::get<2>(GetParam()) == scratch::disk; }
  // A fence takes milliseconds on a disk.
  static uint64_t rounds(uint64_t n) { return on_disk() ? n / 25 : n; }

  static void together(const std::function<void(unsigned, random_source&)>& body) {
    SCUTE_RANDOM(random);
    std::deque<random_source> sources;
    for (unsigned t = 0; t < crew; ++t) sources.emplace_back(random);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < crew; ++t) threads.emplace_back([&, t] { body(t, sources[t]); });
    for (auto& t : threads) t.join();
  }

  pool_file f{std::get<2>(GetParam())};
};

// Which versions an object may hold: the pattern of a number.
class ledger {
 public:
  explicit ledger(size_t n) : size(n) {}
  uint64_t next() { return ++last_; }
  void acknowledge(uint64_t version) {
    const std::lock_guard hold(mutex_);
    known_.insert(version);
  }
  bool holds(const bytes& content) const {
    for (const uint64_t v : known_)
      if (pattern(v, size) == content) return true;
    return false;
  }
  size_t acknowledged() const { return known_.size(); }

  const size_t size;
  scute_oid oid = 0;

 private:
  std::atomic<uint64_t> last_{0};
  std::mutex mutex_;
  std::set<uint64_t> known_{0};
};

TEST_P(contention, CountsEverySuccess) {
  for (const size_t size : {64u, 4096u, 12000u}) {
    const scute_oid oid = f.alloc(bytes(size));
    const uint64_t each = rounds(250);
    std::atomic<uint64_t> conflicts{0};
    together([&](unsigned, random_source&) {
      for (uint64_t done = 0; done < each;) {
        void* at = nullptr;
        const int opened = scute_obj_open(f, oid, &at);
        if (opened == SCUTE_E_CONFLICT) continue;
        ASSERT_EQ(opened, SCUTE_OK) << scute_errormsg();
        auto* words = static_cast<uint64_t*>(at);
        ++words[0];
        ++words[size / 8 - 1];
        const int e = scute_obj_commit(at);
        ASSERT_TRUE(e == SCUTE_OK || e == SCUTE_E_CONFLICT) << scute_errormsg();
        done += e == SCUTE_OK;
        conflicts += e != SCUTE_OK;
      }
    });
    uint64_t words[2];
    const bytes now = f.read(oid);
    ASSERT_EQ(now.size(), size);
    std::memcpy(&words[0], now.data(), 8);
    std::memcpy(&words[1], now.data() + (size / 8 - 1) * 8, 8);
    EXPECT_EQ(words[0], crew * each) << conflicts << " conflicts";
    EXPECT_EQ(words[1], crew * each) << conflicts << " conflicts";
  }
}

// Whole objects, several in a transaction. (CONFLICT-1, OBJLOCK-2)
TEST_P(contention, ObjectsAreOfOneVersion) {
  std::deque<ledger> books;
  for (const size_t size : {64u, 450u, 4096u, 9000u, 40000u}) {
    books.emplace_back(size).oid = f.alloc(pattern(0, size));
    ASSERT_NE(books.back().oid, 0u);
  }
  std::atomic<uint64_t> conflicts{0};
  together([&](unsigned, random_source& random) {
    for (uint64_t round = 0; round < rounds(150); ++round) {
      transaction tx(f);
      std::vector<std::pair<ledger*, uint64_t>> mine;
      int e = SCUTE_OK;
      for (auto& b : books) {
        if (!random.one_in(2)) continue;
        void* at = nullptr;
        e = scute_tx_open(tx, b.oid, &at);
        if (e != SCUTE_OK) break;
        mine.emplace_back(&b, b.next());
        const bytes fresh = pattern(mine.back().second, b.size);
        std::memcpy(at, fresh.data(), b.size);
      }
      if (e == SCUTE_OK) e = tx.commit();
      ASSERT_TRUE(e == SCUTE_OK || e == SCUTE_E_CONFLICT) << scute_errormsg();
      conflicts += e != SCUTE_OK;
      if (e == SCUTE_OK)
        for (const auto& [b, version] : mine) b->acknowledge(version);
    }
  });
  for (const auto& b : books) {
    EXPECT_TRUE(b.holds(f.read(b.oid))) << b.size << " bytes, " << conflicts << " conflicts";
    EXPECT_GT(b.acknowledged(), on_disk() ? 0u : 1u);
  }
}

// Each thread has a word of its own in one fragment, and in one object of several.
TEST_P(contention, RangesOfOneFragment) {
  for (const size_t size : {4096u, 20000u}) {
    const scute_oid oid = f.alloc(bytes(size));
    const uint64_t each = rounds(200);
    together([&](unsigned t, random_source&) {
      for (uint64_t done = 0; done < each;) {
        transaction tx(f);
        void* at = nullptr;
        int e = scute_tx_add_range(tx, oid, 64 + 8 * t, 8, &at);
        if (e == SCUTE_OK) {
          ++*static_cast<uint64_t*>(at);
          e = tx.commit();
        }
        ASSERT_TRUE(e == SCUTE_OK || e == SCUTE_E_CONFLICT) << scute_errormsg();
        done += e == SCUTE_OK;
      }
    });
    const bytes now = f.read(oid);
    for (unsigned t = 0; t < crew; ++t) {
      uint64_t n = 0;
      std::memcpy(&n, now.data() + 64 + 8 * t, 8);
      EXPECT_EQ(n, each) << "thread " << t;
    }
  }
}

// In place against in place and against copies, committed and aborted. (CONFLICT-3, LOGGED-4)
TEST_P(contention, InPlace) {
  std::deque<ledger> books;
  for (const size_t size : {200u, 4096u, 9000u})
    books.emplace_back(size).oid = f.alloc(pattern(0, size));
  together([&](unsigned, random_source& random) {
    for (uint64_t round = 0; round < rounds(150); ++round) {
      ledger& b = books[random.between(0, books.size() - 1)];
      transaction tx(f);
      void* at = nullptr;
      int e = random.one_in(3) ? scute_tx_open(tx, b.oid, &at)
                               : scute_tx_inplace(tx, b.oid, 0, b.size, &at);
      const uint64_t version = b.next();
      if (e == SCUTE_OK) {
        const bytes fresh = pattern(version, b.size);
        std::memcpy(at, fresh.data(), b.size);
        if (random.one_in(4)) {
          SCUTE_OKAY(tx.abort());
          continue;
        }
        e = tx.commit();
      }
      ASSERT_TRUE(e == SCUTE_OK || e == SCUTE_E_CONFLICT) << scute_errormsg();
      if (e == SCUTE_OK) b.acknowledge(version);
    }
  });
  for (const auto& b : books) {
    EXPECT_TRUE(b.holds(f.read(b.oid))) << b.size << " bytes";
    EXPECT_GT(b.acknowledged(), on_disk() ? 0u : 1u);
  }
}

// An object is freed once, whichever other threads free it, change it or have it open in place. Its
// slot is not allocated twice afterwards.
TEST_P(contention, FreedOnce) {
  for (const size_t size : {100u, 9000u}) {
    std::vector<scute_oid> victims;
    for (uint64_t k = 0; k < (on_disk() ? 10u : 40u); ++k)
      victims.push_back(f.alloc(pattern(k, size)));
    const uint64_t before = f.objects();
    std::atomic<uint64_t> freed{0};
    together([&](unsigned, random_source& random) {
      for (const scute_oid oid : victims) {
        transaction tx(f);
        void* at = nullptr;
        const auto what = random.between(0, 3);
        int e = what == 0   ? scute_tx_open(tx, oid, &at)
                : what == 1 ? scute_tx_inplace(tx, oid, size - 50, 20, &at)
                            : scute_tx_free(tx, oid);
        if (e == SCUTE_OK && what < 2) std::memset(at, 7, 20);
        if (e == SCUTE_OK) e = tx.commit();
        ASSERT_TRUE(e == SCUTE_OK || e == SCUTE_E_CONFLICT || e == SCUTE_E_FREED)
            << scute_errormsg();
        freed += e == SCUTE_OK && what >= 2;
      }
    });
    EXPECT_EQ(f.objects(), before - freed);
    std::set<scute_oid> fresh;
    for (uint64_t k = 0; k < 40; ++k) fresh.insert(f.alloc(pattern(k, size)));
    EXPECT_EQ(fresh.size(), 40u);
    EXPECT_EQ(f.objects(), before - freed + 40);
    for (const scute_oid oid : fresh) SCUTE_OKAY(f.free(oid));
  }
}

std::string kind_name(const testing::TestParamInfo<contention::ParamType>& p) {
  return protection_name({std::get<0>(p.param), p.index}) +
         (std::get<1>(p.param) == 8 ? "_few" : "");
}
INSTANTIATE_TEST_SUITE_P(Protection, contention,
                         testing::Combine(every_protection,
                                          testing::Values(8u, pool::stripes::count),
                                          testing::Values(scratch::memory)),
                         kind_name);
INSTANTIATE_TEST_SUITE_P(
    EngineOnDisk, contention,
    testing::Combine(testing::Values(pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
                                     pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE)),
                     testing::Values(8u, pool::stripes::count), testing::Values(scratch::disk)),
    kind_name);

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// HEAP-1, under threads: no slot is ever handed out twice, whichever thread frees it. Readers may
// look at the heap while chunks change their use.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

// Objects that are live, passed from thread to thread; knows of every oid that is out.
class exchange {
 public:
  bool put(scute_oid oid) {
    const std::lock_guard hold(mutex_);
    queue_.push_back(oid);
    return live_.insert(oid).second;  // false: the slot was handed out twice
  }
  scute_oid take() {
    const std::lock_guard hold(mutex_);
    if (queue_.empty()) return 0;
    const scute_oid oid = queue_.front();
    queue_.pop_front();
    live_.erase(oid);
    return oid;
  }
  size_t size() {
    const std::lock_guard hold(mutex_);
    return queue_.size();
  }

 private:
  std::mutex mutex_;
  std::deque<scute_oid> queue_;
  std::set<scute_oid> live_;
};

struct stamp {
  uint64_t oid, size;
};

void work(pool_file& f, exchange& x, random_source& random, std::atomic<int>& wrong, int rounds,
          uint64_t size_max) {
  for (int i = 0; i < rounds; ++i) {
    scute_tx* tx = nullptr;
    if (scute_tx_begin(f, &tx) != 0) {
      ++wrong;
      return;
    }
    std::vector<scute_oid> made, freed;
    for (uint64_t k = random.between(1, 4); k != 0; --k) {
      scute_oid oid = 0;
      void* p = nullptr;
      const uint64_t n = sizeof(stamp) + random.size(size_max);
      const int e = scute_tx_alloc(tx, n, 1, &oid, &p);
      if (e == SCUTE_E_NOSPC) break;
      if (e != 0) ++wrong;
      const stamp s{oid, n};
      std::memcpy(p, &s, sizeof s);
      std::memset(static_cast<char*>(p) + n - 1, 0x77, n > sizeof s ? 1 : 0);
      made.push_back(oid);
    }
    while (x.size() > 200 || random.one_in(2)) {
      const scute_oid oid = x.take();
      if (oid == 0) break;
      const void* q = nullptr;
      stamp s{};
      if (scute_tx_get(tx, oid, &q) == 0) std::memcpy(&s, q, sizeof s);
      if (s.oid != oid || scute_tx_free(tx, oid) != 0) ++wrong;
      freed.push_back(oid);
      if (freed.size() > 6) break;
    }
    if (random.one_in(5)) {
      if (scute_tx_abort(tx) != 0) ++wrong;
      for (const scute_oid oid : freed)
        if (!x.put(oid)) ++wrong;
    } else {
      const int e = scute_tx_commit(tx);
      if (e != 0) {
        if (e != SCUTE_E_NOSPC) ++wrong;
        for (const scute_oid oid : freed)
          if (!x.put(oid)) ++wrong;
        continue;
      }
      for (const scute_oid oid : made)
        if (!x.put(oid)) ++wrong;
    }
  }
}

struct crowd {
  unsigned threads;
  uint64_t pool_size, size_max;
  int rounds;
};

class heap_threads : public testing::TestWithParam<crowd> {};

TEST_P(heap_threads, NeverShareASlot) {
  SCUTE_RANDOM(random);
  const crowd c = GetParam();
  pool_file f;
  scute_options o = options(c.pool_size);
  o.lanes = 8;
  f.create(o);
  exchange x;
  std::atomic<int> wrong{0};
  std::atomic<bool> over{false};
  std::vector<std::unique_ptr<random_source>> sources;
  for (unsigned t = 0; t <= c.threads; ++t)
    sources.push_back(std::make_unique<random_source>(random));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < c.threads; ++t)
    threads.emplace_back([&, t] { work(f, x, *sources[t], wrong, c.rounds, c.size_max); });
  std::thread watcher([&] {
    scute_info info{};
    info.struct_size = sizeof info;
    scute_counters counters{};
    counters.struct_size = sizeof counters;
    random_source& mine = *sources.back();
    while (!over) {
      scute_oid oid = 0;
      unsigned steps = 0;
      for (int e = scute_first(f, SCUTE_TYPE_ANY, &oid); e == 0 && oid != 0 && steps < 2000;
           ++steps) {
        uint64_t size = 0;
        if (mine.one_in(20)) scute_object_info(f, oid, &size, nullptr, nullptr);
        e = scute_next(f, oid, SCUTE_TYPE_ANY, &oid);
      }
      scute_pool_info(f, &info);
      scute_stats(f, &counters);
      std::this_thread::yield();
    }
  });
  for (auto& t : threads) t.join();
  over = true;
  watcher.join();
  EXPECT_EQ(wrong, 0);
  f.expect_sound();
  const size_t live = x.size();
  EXPECT_EQ(f.objects(), live);
  f.reopen();
  EXPECT_EQ(f.objects(), live);
  while (const scute_oid oid = x.take()) {
    stamp s{};
    std::memcpy(&s, scute_get(f, oid), sizeof s);
    EXPECT_EQ(s.oid, oid);
    ASSERT_EQ(SCUTE_OK, f.free(oid));
  }
  EXPECT_EQ(f.objects(), 0u);
  EXPECT_NE(f.alloc(bytes(scute_alloc_max(f))), 0u) << "space was lost: " << scute_errormsg();
}

INSTANTIATE_TEST_SUITE_P(Crowd, heap_threads,
                         testing::Values(crowd{8, 16 * mib, 500, 1500},
                                         crowd{16, 16 * mib, 5000, 500},
                                         crowd{8, mib, 3000, 800},  // always short of space
                                         crowd{6, mib, 60000, 400}));

}  // namespace
}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
// Pages that cannot be read: every access to them, in every thread and at every point of a commit,
// finds them rebuilt.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include "lossy_pool.hpp"

namespace scute::test {
using namespace core;
namespace {

TEST(lost_page, EveryPageOfAPoolOneAfterTheOther) {
  for (const auto level : {SCUTE_PROTECT_MLP, SCUTE_PROTECT_MLPC}) {
    lossy_pool f;
    f.create(2 * mib, level);
    f.fill();
    // The bytes that a log has left in chunks that stay lent belong to no object.
    f.in().heap->clear_chunk_cache(f.in().s.lanes.front());
    SCUTE_OKAY(scute_drain(f));
    uint64_t lost = 0;
    for (uint64_t at = 0; at < f.geo().file_size; at += page) {
      if (f.in().s.overlaid.touches(at, page)) continue;  // a log's, of which nothing is needed now
      ++lost;
      const bytes before(reinterpret_cast<unsigned char*>(f.raw(at)),
                         reinterpret_cast<unsigned char*>(f.raw(at)) + page);
      f.lose(at);
      // The program itself reads it, through a pointer of its own.
      EXPECT_EQ(std::memcmp(f.raw(at), before.data(), page), 0) << at;
    }
    EXPECT_EQ(f.repaired_pages(), lost);
    f.expect_all_repaired();
  }
}

TEST(lost_page, AccessesOfAllKindsRepairInPassing) {
  lossy_pool f;
  f.create(4 * mib);
  f.fill();
  for (int round = 0; round < 20; ++round) {
    uint64_t lost = 0, row = 0;
    // One page per column.
    for (uint64_t column = 0; column < f.geo().row_size; column += page, ++lost)
      f.lose(f.geo().zones_offset +
             (row++ + static_cast<uint64_t>(round)) % (f.geo().rows + 1) * f.geo().row_size +
             column);
    for (auto& [oid, content] : f.objects) {
      content = pattern(oid + static_cast<uint64_t>(round), content.size());
      if (round % 2 == 0) {
        f.overwrite(oid, content);
      } else {
        transaction tx(f);
        void* to = nullptr;
        SCUTE_OKAY_E(scute_tx_inplace(tx, oid, 0, content.size(), &to));
        std::memcpy(to, content.data(), content.size());
        SCUTE_OKAY_E(tx.commit());
      }
    }
    f.expect_objects();
    f.expect_sound();  // which looks at every page in use
    f.touch_all();
    EXPECT_EQ(f.repaired_pages(), lost * static_cast<uint64_t>(round + 1));
  }
  f.reopen();
  f.expect_sound();
  f.expect_objects();
}

// INFLIGHT-1: a thread that holds a stripe meets no lost page of another column; PAGE-3.
TEST(lost_page, LossesAtAnyMomentOfACommit) {
  for (const size_t n : {24u, 200u, 6000u, 30000u}) {
    lossy_pool f;
    f.create(2 * mib);
    std::vector<scute_oid> oids;
    for (uint64_t i = 0; i < 3; ++i) oids.push_back(f.alloc(pattern(i, n)));
    const auto pages = f.used_pages();
    std::atomic<bool> over{false};
    std::atomic<uint64_t> losses{0};
    // Another thread loses pages all the time, one column at a time, so that no column has two.
    std::thread rain([&] {
      std::mt19937_64 random(n);
      while (!over) {
        const uint64_t before = f.repaired_pages();
        f.lose(pages[random() % pages.size()]);
        ++losses;
        while (f.repaired_pages() == before && !over) std::this_thread::yield();
      }
    });
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < 2000 || losses < 300; ++i) {
      const bytes fresh = pattern(i, n);
      f.overwrite(oids[i % 3], fresh);
      // Touches every page, so that the rain of losses continues, and lets it.
      for (const uint64_t p : pages) f.touch(p);
      if (i % 8 == 0) std::this_thread::yield();
      if (f.read(oids[i % 3]) != fresh) ++wrong;
    }
    over = true;
    rain.join();
    for (const uint64_t p : pages) f.touch(p);
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(f.info().lost, 0u);
    f.expect_sound();
  }
}

// PAGE-1, FAULT-3.
TEST(lost_page, ManyThreadsCommitWhilePagesAreLost) {
  lossy_pool f;
  f.create(8 * mib);
  constexpr unsigned writers = 4, objects = 24;
  std::vector<std::vector<scute_oid>> oids(writers);
  // Small, and close together: threads share column blocks, with atomic parity updates.
  for (unsigned k = 0; k < objects; ++k)
    for (auto& mine : oids) mine.push_back(f.alloc(pattern(k, 24 + 40 * (k % 3))));
  const auto pages = f.used_pages();
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  std::vector<std::vector<uint64_t>> last(writers, std::vector<uint64_t>(objects));
  for (unsigned t = 0; t < writers; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (uint64_t i = 0; !over; ++i) {
        const auto k = random() % objects;
        const size_t n = 24 + 40 * (k % 3);
        transaction tx(f);
        void* to = nullptr;
        const uint64_t key = last[t][k] == 0 ? k : last[t][k];
        if (scute_tx_open(tx, oids[t][k], &to) != 0 ||
            std::memcmp(to, pattern(key, n).data(), n) != 0) {
          ++wrong;
          continue;
        }
        last[t][k] = i * 1000 + t + 5;
        // Few bytes change, so that the parity is updated under shared stripes.
        std::memcpy(to, pattern(last[t][k], n).data(), n);
        if (tx.commit() != 0) ++wrong;
      }
    });
  std::mt19937_64 random(7);
  for (int k = 0; k < 600; ++k) {
    const uint64_t at = pages[random() % pages.size()];
    f.lose(at);
    while (f.in().s.medium->is_revoked(at)) {
      if (k % 2 == 0) f.touch(at);
      std::this_thread::yield();
      if (random() % 20 == 0) f.touch(at);
    }
  }
  over = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(f.repaired_pages(), 600u);
  EXPECT_EQ(f.info().lost, 0u);
  f.expect_sound();
}

// PAGE-2.
TEST(lost_page, TwoColumnsAreRepairedAtOnce) {
  lossy_pool f;
  f.create(8 * mib);
  f.fill();
  const auto& g = f.geo();
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> lost;
    for (uint64_t k = 0; k < 4; ++k)
      lost.push_back(g.zones_offset + k % g.rows * g.row_size +
                     (static_cast<uint64_t>(round) * 4 + k) % (g.row_size / page) * page);
    std::set<uint64_t> columns;
    for (const uint64_t at : lost) f.lose(at);
    std::vector<std::thread> threads;
    for (const uint64_t at : lost) threads.emplace_back([&, at] { f.touch(at); });
    for (auto& t : threads) t.join();
  }
  EXPECT_EQ(f.repaired_pages(), 800u);
  f.expect_all_repaired();
}

// PAGE-4.
TEST(lost_page, StoresInPlaceThatWereLostAbortTheTransaction) {
  lossy_pool f;
  f.create();
  const bytes before = pattern(1, 3000);
  const scute_oid oid = f.alloc(before);
  {
    transaction tx(f);
    void* to = nullptr;
    SCUTE_OKAY(scute_tx_inplace(tx, oid, 0, 3000, &to));
    std::memset(to, 0xee, 1500);
    f.lose(f.offset_of(oid));
    std::memset(static_cast<char*>(to) + 1500, 0xee, 1500);  // continues as if nothing had happened
    SCUTE_FAILS(SCUTE_E_CORRUPT, tx.commit());
  }
  EXPECT_TRUE(f.read(oid) == before);
  f.expect_sound();
  // And again, with success.
  transaction tx(f);
  void* to = nullptr;
  SCUTE_OKAY(scute_tx_inplace(tx, oid, 0, 3000, &to));
  std::memset(to, 0xee, 3000);
  SCUTE_OKAY(tx.commit());
  EXPECT_TRUE(f.read(oid) == bytes(3000, 0xee));
}

// A page that was cut off the file raises a true SIGBUS, and comes back with the file's length.
TEST(lost_page, ATrueBusError) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    lossy_pool f(where);
    f.create(2 * mib);
    f.fill();
    ASSERT_EQ(::truncate(f.path.c_str(), static_cast<off_t>(f.geo().file_size - 3 * page)), 0);
    // The last page is a superblock copy; those before it may be parity, or nothing.
    for (uint64_t at = f.geo().file_size - 3 * page; at < f.geo().file_size; at += page)
      f.touch(at);
    EXPECT_EQ(f.repaired_pages(), 3u);
    f.expect_all_repaired();
  }
}

// FAULT-1: the default action; FAULT-2.
TEST(lost_page, HandlersChain) {
  lossy_pool f;
  f.create();
  // A fault outside the pool, with and without a handler of the program's own, in a child.
  const auto status_of = [](auto&& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(77);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  };
  void* nowhere = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int died = status_of([&] { *static_cast<volatile char*>(nowhere) = 1; });
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  ASSERT_TRUE(WIFSIGNALED(died));
  EXPECT_EQ(WTERMSIG(died), SIGSEGV);
#else
  EXPECT_FALSE(WIFEXITED(died) && WEXITSTATUS(died) == 77);
#endif
  const int sent = status_of([] { ::raise(SIGBUS); });
  EXPECT_FALSE(WIFEXITED(sent) && WEXITSTATUS(sent) == 77);
  ::munmap(nowhere, page);
}

TEST(lost_page, StaysLostUntilItIsRepairedInALaterSession) {
  for (const auto level : {SCUTE_PROTECT_MLP, SCUTE_PROTECT_MLPC}) {
    lossy_pool f;
    f.create(2 * mib, level);
    f.fill();
    SCUTE_OKAY(scute_drain(f));  // so that closing does not touch it
    f.lose(f.offset_of(f.root));
    f.reopen();
    EXPECT_GE(f.info().pages_repaired, 1u);
    f.expect_all_repaired();
    f.reopen();
    EXPECT_EQ(f.info().pages_repaired, 0u);
  }
}

TEST(lost_page, WithoutHandlersAProgramCallsItself) {
  lossy_pool f;
  scute_options o = options(2 * mib);
  o.flags |= SCUTE_NO_FAULT_HANDLER;
  f.create(o);
  const scute_oid oid = f.alloc(pattern(3, 500));
  f.lose(f.offset_of(oid));
  siginfo_t info{};
  info.si_code = SEGV_ACCERR;
  info.si_addr = f.raw(f.offset_of(oid));
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 1);
  EXPECT_TRUE(f.read(oid) == pattern(3, 500));
  info.si_addr = &info;
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
}

// The descriptor says which rows are in use, and what lies in the others is not in the parity. With
// the descriptor lost, that has to be found out again.
TEST(lost_page, DescriptorAndNoiseInUnusedSpace) {
  for (const auto level : {SCUTE_PROTECT_MLP, SCUTE_PROTECT_MLPC}) {
    lossy_pool f;
    f.create(8 * mib, level);
    f.fill();
    const uint64_t zone = f.geo().zone_offset(0);
    const uint64_t last_row = (f.geo().rows - 1) * f.geo().row_size;
    ASSERT_GT(last_row, f.in().s.used_end[0].load());
    std::memcpy(f.raw(zone + last_row), pattern(1, page).data(), page);
    std::memcpy(f.raw(zone), pattern(2, 128).data(), 128);
    f.reopen();
    f.expect_all_repaired();
  }
}

TEST(lost_page, ReadOnlyPools) {
  lossy_pool f;
  f.create(2 * mib);
  f.fill();
  SCUTE_OKAY(scute_drain(f));
  f.lose(f.offset_of(f.root));
  f.close();
  f.open(SCUTE_READONLY);
  f.expect_objects();
  EXPECT_EQ(f.info().pages_repaired, 1u);
  f.close();
  f.open();
  EXPECT_EQ(f.info().pages_repaired, 1u);  // reading had not changed the file
  f.expect_all_repaired();
}

}  // namespace
}  // namespace scute::test

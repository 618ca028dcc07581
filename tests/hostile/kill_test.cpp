// SPDX-License-Identifier: BSD-3-Clause
// A process killed at random moments, again and again: what it had committed is there, what it was
// doing happened wholly or not at all.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <map>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

// What the child has told, in memory that it shares with the parent and that survives it.
struct told {
  std::atomic<uint64_t> begun, committed;
  std::atomic<int> failed;
};

// Slots of the root name objects; a transaction rewrites some of them, each whole, with its number.
constexpr uint64_t slots = 24;
struct root {
  uint64_t number;  // of the last transaction
  scute_oid objects[slots];
  uint64_t numbers[slots];  // transaction that wrote each
};

uint64_t size_of(uint64_t number, uint64_t slot) {
  const uint64_t h = (number * 31 + slot) * 0x9e3779b97f4a7c15u >> 40;
  return h % 7 == 0 ? 1 + h % 30000 : 1 + h % 600;
}
// Slots that a transaction touches follow from its number, so that the parent knows them.
bool touches(uint64_t number, uint64_t slot) {
  return (((number * 0x2545f4914f6cdd1du) ^ (slot * 0x9e3779b97f4a7c15u)) >> 30) % 6 == 0;
}
enum class act { replace, rewrite, in_place, drop };
act act_of(uint64_t number, uint64_t slot) {
  return static_cast<act>((number * 7 + slot * 13) / 3 % 4);
}

bool step(scute_pool* pool, scute_oid root_oid, uint64_t number) {
  scute_tx* tx = nullptr;
  void* p = nullptr;
  if (scute_tx_begin(pool, &tx) != 0) return false;
  if (scute_tx_open(tx, root_oid, &p) != 0) return false;
  auto* r = static_cast<root*>(p);
  r->number = number;
  for (uint64_t s = 0; s < slots; ++s) {
    if (!touches(number, s)) continue;
    const act a = act_of(number, s);
    uint64_t size = 0;
    if (r->objects[s] != 0 && scute_object_info(pool, r->objects[s], &size, nullptr, nullptr) != 0)
      return false;
    if (r->objects[s] == 0 || a == act::replace || a == act::drop) {
      if (r->objects[s] != 0 && scute_tx_free(tx, r->objects[s]) != 0) return false;
      r->objects[s] = 0;
      if (a == act::drop) {
        r->numbers[s] = 0;
        continue;
      }
      size = size_of(number, s);
      if (scute_tx_alloc(tx, size, 1, &r->objects[s], &p) != 0) return false;
    } else if (a == act::rewrite || size > 5000) {
      if (scute_tx_open(tx, r->objects[s], &p) != 0) return false;
    } else {
      if (scute_tx_inplace(tx, r->objects[s], 0, size, &p) != 0) return false;
    }
    const bytes content = pattern(number, size);
    std::memcpy(p, content.data(), size);
    r->numbers[s] = number;
  }
  return scute_tx_commit(tx) == 0;
}

[[noreturn]] void child(const std::string& path, scute_medium medium, told& t) {
  scute_options o = options();
  o.medium = medium;
  scute_pool* pool = nullptr;
  scute_oid oid = 0;
  if (scute_open(path.c_str(), &o, &pool) != 0 || scute_root(pool, sizeof(root), 1, &oid) != 0) {
    std::fprintf(stderr, "child: %s\n", scute_errormsg());
    t.failed = 1;
    ::_exit(1);
  }
  for (uint64_t n = t.committed + 1;; ++n) {
    t.begun = n;
    if (!step(pool, oid, n)) {
      std::fprintf(stderr, "child, transaction %llu: %s\n", static_cast<unsigned long long>(n),
                   scute_errormsg());
      t.failed = 1;
      ::_exit(1);
    }
    t.committed = n;
  }
}

struct way {
  scute_protection protection;
  scute_medium medium;
  int rounds;
};

class killed : public testing::TestWithParam<way> {};

TEST_P(killed, AtRandomMoments) {
  SCUTE_RANDOM(random);
  const way w = GetParam();
  pool_file f;
  scute_options o = options(2 * mib, w.protection);
  o.lanes = 2;
  f.create(o);
  scute_oid oid = 0;
  SCUTE_OKAY(scute_root(f, sizeof(root), 1, &oid));
  f.close();
  void* shared =
      ::mmap(nullptr, sizeof(told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  told& t = *new (shared) told{};
  uint64_t recoveries = 0;
  for (int round = 0; round < w.rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const uint64_t before = t.committed;
    const pid_t pid = ::fork();
    if (pid == 0) child(f.path, w.medium, t);
    for (int wait = 0; wait < 5000 && t.committed == before && t.failed == 0; ++wait) ::usleep(100);
    ::usleep(static_cast<useconds_t>(random.between(0, 5000)));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ASSERT_EQ(t.failed, 0);
    f.open();
    const auto info = f.info();
    EXPECT_EQ(info.clean, 0);
    recoveries += info.recovered;
    f.expect_sound();
    root r{};
    const void* q = nullptr;
    SCUTE_OKAY(scute_get_verified(f, oid, &q));
    std::memcpy(&r, q, sizeof r);
    // All that was committed, and the one in flight or not.
    ASSERT_GE(r.number, t.committed);
    ASSERT_LE(r.number, t.begun);
    t.committed = r.number;
    uint64_t live = 1;
    for (uint64_t s = 0; s < slots; ++s) {
      uint64_t last = r.number;
      while (last > 0 && !touches(last, s)) --last;
      if (r.objects[s] == 0) {
        EXPECT_TRUE(last == 0 || act_of(last, s) == act::drop) << "slot " << s;
        continue;
      }
      ++live;
      EXPECT_EQ(r.numbers[s], last) << "slot " << s;
      const bytes content = f.read(r.objects[s]);
      EXPECT_TRUE(content == pattern(last, content.size())) << "slot " << s;
    }
    EXPECT_EQ(f.objects(), live);
    // A pool that was recovered can be worked with.
    ASSERT_TRUE(step(f, oid, ++t.committed)) << scute_errormsg();
    t.begun = t.committed.load();
    f.expect_sound();
    f.close();
    if (HasFailure()) break;
  }
  std::printf("%llu transactions, %llu completed by recovery\n",
              static_cast<unsigned long long>(t.committed),
              static_cast<unsigned long long>(recoveries));
  ::munmap(shared, sizeof(told));
}

INSTANTIATE_TEST_SUITE_P(Way, killed,
                         testing::Values(way{SCUTE_PROTECT_MLPC, SCUTE_MEDIUM_AUTO, 50},
                                         way{SCUTE_PROTECT_MLPC, SCUTE_MEDIUM_FILE, 20},
                                         way{SCUTE_PROTECT_NONE, SCUTE_MEDIUM_AUTO, 20}));

}  // namespace
}  // namespace scute::test

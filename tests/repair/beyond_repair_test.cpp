// SPDX-License-Identifier: BSD-3-Clause
// The statements of docs/guides/recover.md about damage beyond the redundancy: the content of a
// lost page, the calls that a lost object still permits, checks that repair as much as possible,
// and the processes that a lost page ends.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>

#include "support/child.hpp"
#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

class beyond_repair : public known_pool {
 public:
  using known_pool::known_pool;

  void lose(uint64_t offset, uint64_t seed) {
    scute_injection what;
    scute_injection_init(&what);
    what.kind = SCUTE_INJURE_LOSE_PAGE;
    what.offset = offset & ~(page - 1);
    what.seed = seed;
    SCUTE_OKAY(scute_inject(pool, &what, nullptr, nullptr, nullptr));
  }
  struct pair {
    uint64_t a = 0, b = 0;  // pages
    std::set<scute_oid> objects;
  };
  // Two pages of one column with an object of several pages in each, inside of it.
  pair two_of_a_column(random_source& random) const {
    std::map<uint64_t, scute_oid> inside;
    for (const auto& [oid, content] : objects)
      for (uint64_t at = (offset_of(oid) + page) & ~(page - 1);
           at + page <= offset_of(oid) + content.size(); at += page)
        inside[at] = oid;
    std::vector<pair> found;
    const uint64_t row = in().s.geo.row_size;
    for (const auto& [a, first] : inside)
      for (uint64_t b = a + row; b < in().s.geo.zones_end(); b += row)
        if (const auto other = inside.find(b); other != inside.end())
          found.push_back({a, b, {first, other->second}});
    EXPECT_FALSE(found.empty());
    return found.empty() ? pair{} : found[random.between(0, found.size() - 1)];
  }
  int get(scute_oid oid) const {
    const void* at = nullptr;
    return scute_get_verified(pool, oid, &at);
  }
};

class losses : public testing::TestWithParam<scute_engine> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib, {SCUTE_PROTECT_MLPC, GetParam()});
    o.rows = 6;
    f.create(o);
    f.fill();
    for (const size_t n : {300'000, 200'000, 250'000, 400'000, 300'000, 350'000}) f.add(n);
    SCUTE_OKAY(scute_drain(f));
  }
  beyond_repair f;
};

// "the page is filled with the byte 0xdb, which no checksum accepts, and events name the objects"
// (PAGE-6)
TEST_P(losses, APageIsFilledAndItsObjectsNamed) {
  SCUTE_RANDOM(random);
  const auto pair = f.two_of_a_column(random);
  f.lose(pair.a, random.word());
  f.lose(pair.b, random.word());
  for (const scute_oid oid : pair.objects) SCUTE_FAILS(SCUTE_E_CORRUPT, f.get(oid));
  for (const uint64_t at : {pair.a, pair.b}) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(f.raw(at));
    EXPECT_EQ(std::count(bytes, bytes + page, 0xdb), static_cast<long>(page)) << "page at " << at;
  }
  f.check();  // which looks at both of them
  std::set<scute_oid> named;
  SCUTE_OKAY(scute_events(
      f,
      [](void* to, const scute_event* e) {
        if (e->outcome == SCUTE_OUTCOME_LOST)
          static_cast<std::set<scute_oid>*>(to)->insert(e->object);
      },
      &named));
  for (const scute_oid oid : pair.objects) EXPECT_EQ(named.count(oid), 1u) << f.offset_of(oid);
  for (const auto& [oid, content] : f.objects) {
    if (pair.objects.count(oid) == 0) {
      EXPECT_TRUE(f.read(oid) == content) << content.size();
    }
  }
}

// "Free the lost object (scute_tx_free needs no valid payload) and allocate it again."
TEST_P(losses, ALostObjectIsFreedAndItsSpaceUsedAgain) {
  SCUTE_RANDOM(random);
  const auto pair = f.two_of_a_column(random);
  f.lose(pair.a, random.word());
  f.lose(pair.b, random.word());
  std::multiset<size_t, std::greater<>> sizes;  // small ones would fit where a large one has to
  for (const scute_oid oid : pair.objects) {
    SCUTE_FAILS(SCUTE_E_CORRUPT, f.get(oid));
    sizes.insert(f.objects[oid].size());
  }
  // Nothing else of that size fits before.
  std::vector<scute_oid> filler;
  while (const scute_oid oid = f.alloc(bytes(*sizes.rbegin()))) filler.push_back(oid);
  for (const scute_oid oid : pair.objects) {
    ASSERT_EQ(f.free(oid), SCUTE_OK) << scute_errormsg();
    f.objects.erase(oid);
    EXPECT_NE(f.get(oid), SCUTE_OK);
  }
  for (const size_t n : sizes) f.add(n);
  for (const scute_oid oid : filler) ASSERT_EQ(f.free(oid), SCUTE_OK);
  f.expect_all_repaired();
}

// "`scute check POOL --repair` continues until nothing more can be repaired" (SUSPECT-2)
TEST_P(losses, ASecondRepairFindsNothingMore) {
  SCUTE_RANDOM(random);
  uint64_t repaired = 0, lost = 0;
  for (int round = 0; round < 4; ++round) {
    scute_injection what;
    scute_injection_init(&what);
    what.kind = round % 2 == 0 ? SCUTE_INJURE_SCRIBBLE : SCUTE_INJURE_FLIP;
    what.count = random.between(10, 30);
    what.bits = 64;
    what.length = random.between(100, 5000);
    what.seed = random.word();
    SCUTE_OKAY(scute_inject(f, &what, nullptr, nullptr, nullptr));
    const scute_report first = f.check(true);
    repaired += first.repaired;
    lost = first.lost;
    std::vector<std::string> findings;
    const scute_report second = f.check(true, &findings);
    EXPECT_EQ(second.repaired, 0u) << testing::PrintToString(findings);
    EXPECT_EQ(second.damaged, second.lost) << testing::PrintToString(findings);
    EXPECT_EQ(second.lost, first.lost) << testing::PrintToString(findings);
  }
  EXPECT_GT(repaired, 0u);
  std::printf("%llu repaired, %llu lost in the end\n", static_cast<unsigned long long>(repaired),
              static_cast<unsigned long long>(lost));
}
INSTANTIATE_TEST_SUITE_P(Engine, losses, every_engine, engine_name);

// "lost page in a zone | ends the process | ends the process | rebuilt | rebuilt"
class loss_outcomes : public testing::TestWithParam<pool_kind> {};

TEST_P(loss_outcomes, ALostPageInAZone) {
  SCUTE_RANDOM(random);
  beyond_repair f;
  f.create(mib, GetParam());
  const scute_oid oid = f.add(20'000);
  const uint64_t at = (f.offset_of(oid) + page) & ~(page - 1);
  f.close();
  const bool rebuilt = GetParam() >= SCUTE_PROTECT_MLP;
  const uint64_t noise = random.word();
  const auto meet = [&](bool library) {
    for (const int s : {SIGSEGV, SIGBUS}) std::signal(s, SIG_DFL);
    const rlimit no_core{};
    setrlimit(RLIMIT_CORE, &no_core);
    f.open();
    if (rebuilt)
      f.lose(at, noise);
    else  // A drill is refused there. Pages after the end of a file cannot be read.
      std::filesystem::resize_file(f.path, at);
    if (library) {
      void* to = nullptr;
      transaction tx(f);
      SCUTE_OKAY(scute_tx_open(tx, oid, &to));
    } else {
      static_cast<void>(*reinterpret_cast<volatile char*>(f.raw(at)));
    }
    EXPECT_TRUE(f.read(oid) == f.objects[oid]);
    f.close();
  };
  const bytes whole = read_file(f.path);
  for (const bool library : {false, true}) {
    SCOPED_TRACE(library ? "a library call" : "a pointer of the program's");
    const int status = child([&] { meet(library); }).wait();
    if (rebuilt) {
      EXPECT_EQ(status, 0);
    } else {
      EXPECT_TRUE(WIFSIGNALED(status) &&
                  (WTERMSIG(status) == SIGBUS || WTERMSIG(status) == SIGSEGV))
          << "status " << status;
    }
    write_file(f.path, whole);
  }
}
INSTANTIATE_TEST_SUITE_P(Protection, loss_outcomes, every_protection, protection_name);

}  // namespace
}  // namespace scute::test

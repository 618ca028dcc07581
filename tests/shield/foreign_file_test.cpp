// SPDX-License-Identifier: BSD-3-Clause
// A file under the shield: read, changed and made longer, on both kinds of media, with every
// engine.
#include "shield/sidecar/foreign_file.hpp"

#include <gtest/gtest.h>

#include <scute/shield_room.h>

#include <atomic>
#include <thread>
#include <utility>

#include "core/layout/foreign_limits.hpp"
#include "support/child.hpp"
#include "support/seed.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

struct kind {
  scratch::where where;
  scute_engine engine;
  uint32_t parity;
};

class foreign_file : public ::testing::TestWithParam<kind> {
 protected:
  foreign_file() : f(GetParam().where) {}
  void add(size_t n, uint64_t capacity = 0) {
    f.make(n);
    f.add(shielded::options(GetParam().engine, GetParam().parity), capacity);
  }
  shielded f;
};

// SPAN-1: all of it is right when the file is under the shield.
TEST_P(foreign_file, KeepsItsBytes) {
  for (const size_t n :
       {size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{300001}, size_t{2} << 20}) {
    add(n);
    f.expect_file();
    f.open();
    EXPECT_EQ(f.state().size, n);
    EXPECT_EQ(std::string(f.state().file), f.path);
    f.expect_content();
    f.expect_sound();
    f.close();
    f.expect_file();
    SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
    f.expect_file();
    EXPECT_EQ(f.dir.count(), 1u) << n;
  }
}

TEST_P(foreign_file, ChangesAreTransactions) {
  add(3 * mib + 777);
  f.open();
  SCUTE_RANDOM(random);
  for (int round = 0; round < 40; ++round) {
    std::vector<bytes> news;
    std::vector<scute_shield_change> changes;
    for (int i = 0; i < 5; ++i) {
      const uint64_t n = random.between(1, round % 4 == 0 ? 20000 : 200);
      const uint64_t offset = random.between(0, f.content.size() - n);
      news.push_back(pattern(random.word(), n));
      changes.push_back({offset, nullptr, n});
    }
    for (size_t i = 0; i < news.size(); ++i) {
      changes[i].bytes = news[i].data();
      std::copy(news[i].begin(), news[i].end(),
                f.content.begin() + static_cast<ptrdiff_t>(changes[i].offset));
    }
    SCUTE_OKAY(scute_shield_write(f.pool, changes.data(), changes.size()));
    if (round % 10 == 9) f.reopen();
  }
  f.expect_content();
  f.expect_sound();
  f.close();
  f.expect_file();
}

// SPAN-3: the formerly last fragment, and the first one, which is the same in a file of less than a
//         page.
TEST_P(foreign_file, Grows) {
  add(100001, 4 * mib);
  f.open();
  EXPECT_GE(f.state().capacity, 4 * mib);
  for (const uint64_t size : {100002ul, 102400ul, 102401ul, 500000ul, 500000ul, 2000001ul}) {
    const uint64_t before = f.state().size;
    SCUTE_OKAY(scute_shield_reserve(f.pool, size));
    EXPECT_EQ(f.state().size, before);
    f.expect_content();
    f.grow(size);
    f.expect_content();
    f.expect_sound();
    f.write(size - 50, pattern(size, 50));
    f.expect_sound();
  }
  // SPAN-2: what a growth put there is whole, and durable, when it returns.
  f.reopen();
  f.grow(f.state().capacity);
  f.expect_content();
  f.expect_sound();
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_grow(f.pool, f.state().capacity + 1));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_reserve(f.pool, f.state().capacity + 1));
  EXPECT_NE(std::string(scute_errormsg()).find("adopt"), std::string::npos);
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_grow(f.pool, 5));
  f.close();
  f.expect_file();
  f.open();
  f.expect_content();
}

// SLICE-2: threads that change it, one of them its last bytes, while it grows.
TEST_P(foreign_file, GrowsWhileItChanges) {
  add(200001, 2 * mib);
  f.open();
  std::atomic<int> failed{0};
  std::atomic<bool> stop{false};
  const auto change = [&](uint64_t offset) {
    for (unsigned i = 0; i == 0 || !stop; ++i) {
      const bytes b(200, static_cast<unsigned char>(i));
      const scute_shield_change c{offset, b.data(), b.size()};
      if (scute_shield_write(f.pool, &c, 1) != SCUTE_OK) ++failed;
    }
  };
  std::thread one(change, 5000), two(change, 199801);
  for (uint64_t size = 200002; size < 240000; size += 3500)
    if (scute_shield_grow(f.pool, size) != SCUTE_OK) ++failed;
  stop = true;
  one.join();
  two.join();
  EXPECT_EQ(failed, 0);
  const uint64_t size = f.state().size;
  EXPECT_EQ(size, 200002u + 11 * 3500);
  f.expect_sound();
  f.content.resize(size);
  for (const uint64_t at : {5000ul, 199801ul}) {
    const bytes now = f.read(at, 200);
    EXPECT_TRUE(now == bytes(200, now[0])) << at;
    std::copy(now.begin(), now.end(), f.content.begin() + static_cast<ptrdiff_t>(at));
  }
  f.reopen();
  f.expect_content();
  f.expect_sound();
}

// A killed process's commits are present, and nothing else.
TEST_P(foreign_file, OutlivesItsProcess) {
  add(mib + 5, 3 * mib);
  const bytes a = pattern(11, 9000), b = pattern(12, 60);
  child killed([&] {
    if (f.try_open() != SCUTE_OK) ::_exit(1);
    const scute_shield_change changes[] = {{5000, a.data(), a.size()}, {mib - 30, b.data(), 35}};
    if (scute_shield_write(f.pool, changes, 2) != SCUTE_OK) ::_exit(1);
    if (scute_shield_grow(f.pool, 2 * mib + 1) != SCUTE_OK) ::_exit(1);
    ::_exit(0);
  });
  ASSERT_EQ(killed.wait(), 0);
  std::copy(a.begin(), a.end(), f.content.begin() + 5000);
  std::copy(b.begin(), b.begin() + 35, f.content.begin() + mib - 30);
  f.content.resize(2 * mib + 1);
  f.open();
  EXPECT_EQ(f.state().size, f.content.size());
  f.expect_content();
  f.expect_sound();
}

// A file over several zones (FOREIGN-4): one change is one transaction over them (SLICE-1), and it
// grows from one into the next.
TEST_P(foreign_file, SeveralZones) {
  const uint64_t usual = std::exchange(core::pool::foreign_zone_bytes, 2 * mib);
  f.make(mib + 17);
  scute_options o = shielded::options(GetParam().engine, GetParam().parity);
  if (GetParam().engine == SCUTE_ENGINE_SPEC)
    o.log_cap = 512 * kib;  // every zone has room for all of it
  f.add(o, 9 * mib);
  core::pool::foreign_zone_bytes = usual;
  f.open();
  const uint64_t share = f.in().s.foreign->share;
  ASSERT_GE(f.state().segments, 3u);
  f.expect_content();
  f.expect_sound();
  for (const uint64_t size :
       {share - 1, share, share + 1, share + 2, 2 * share, 2 * share + 5000}) {
    f.grow(size);
    f.expect_content();
    f.expect_sound();
    f.reopen();
    EXPECT_EQ(f.state().size, size);
    f.expect_content();
  }
  const bytes a = pattern(21, 3000), b = pattern(22, 9000);
  for (const uint64_t border : {share, 2 * share}) {
    const scute_shield_change changes[] = {{border - 1000, a.data(), a.size()},
                                           {70, b.data(), b.size()}};
    SCUTE_OKAY(scute_shield_write(f.pool, changes, 2));
    std::copy(a.begin(), a.end(), f.content.begin() + static_cast<ptrdiff_t>(border - 1000));
    std::copy(b.begin(), b.end(), f.content.begin() + 70);
    f.expect_content();
    f.expect_sound();
    EXPECT_NE(f.place_of(border), f.place_of(border - 1) + 1);
  }
  f.close();
  f.expect_file();
  f.open();
  for (const uint64_t at : {uint64_t{5}, share - 1, share, 2 * share + 1}) f.flip(at);
  f.expect_content();
  f.expect_sound();
}

TEST_P(foreign_file, RefusesWhatMakesNoSense) {
  add(10000);
  f.open();
  char byte = 0;
  const scute_shield_change beyond{9999, "ab", 2};
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_write(f.pool, &beyond, 1));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_read(f.pool, 10000, &byte, 1));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_read(f.pool, UINT64_MAX, &byte, 2));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_locate(f.pool, 10000, nullptr, nullptr, nullptr));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_read(f.pool, 0, nullptr, 1));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_write(f.pool, nullptr, 1));
  scute_oid oid = 0;
  SCUTE_OKAY(scute_shield_locate(f.pool, 0, &oid, nullptr, nullptr));
  {
    transaction t(f.pool);
    const scute_shield_change c{0, "a", 1};
    SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_write(f.pool, &c, 1));
    SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_grow(f.pool, 10001));
    SCUTE_FAILS(SCUTE_E_INVALID, scute_tx_free(t, oid));
  }
  f.expect_content();
  pool_file other;
  other.create();
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_read(other, 0, &byte, 1));
  scute_shield_state s{};
  s.struct_size = sizeof s;
  SCUTE_OKAY(scute_shield_info(other, &s));
  EXPECT_EQ(s.size, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, foreign_file,
                         ::testing::Values(kind{scratch::memory, SCUTE_ENGINE_LOGFREE, 1},
                                           kind{scratch::memory, SCUTE_ENGINE_LOGFREE, 3},
                                           kind{scratch::memory, SCUTE_ENGINE_REDO, 1},
                                           kind{scratch::memory, SCUTE_ENGINE_SPEC, 1},
                                           kind{scratch::disk, SCUTE_ENGINE_SPEC, 1},
                                           kind{scratch::disk, SCUTE_ENGINE_LOGFREE, 1}),
                         [](const auto& p) {
                           const kind& k = p.param;
                           const char* engine = k.engine == SCUTE_ENGINE_REDO      ? "redo"
                                                : k.engine == SCUTE_ENGINE_LOGFREE ? "logfree"
                                                                                   : "spec";
                           return std::string(engine) + std::to_string(k.parity) +
                                  (k.where == scratch::disk ? "disk" : "memory");
                         });

}  // namespace
}  // namespace scute::test

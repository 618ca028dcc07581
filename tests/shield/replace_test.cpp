// SPDX-License-Identifier: BSD-3-Clause
// Changes of a shielded file whose old bytes the caller knows: with every engine, and next to
// damage.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "core/shared/pool/library_call.hpp"
#include "core/tx/object_lock_guard.hpp"
#include "core/tx/replacer.hpp"
#include "shield/sidecar/foreign_file.hpp"
#include "support/seed.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

struct kind {
  scratch::where where;
  scute_engine engine;
  scute_protection protection;
  uint32_t parity;
};

class replace : public ::testing::TestWithParam<kind> {
 protected:
  replace() : f(GetParam().where) {}
  void open(size_t n) {
    f.make(n);
    scute_options o = shielded::options(GetParam().engine, GetParam().parity);
    o.protection = GetParam().protection;
    f.add(o, 2 * n);
    f.open();
  }
  struct wanted {
    uint64_t offset, n, key;
  };
  // In the order of their places. The old bytes given are those that the file holds.
  void put(std::initializer_list<wanted> all) { put(std::vector<wanted>(all)); }
  void put(const std::vector<wanted>& all) {
    std::vector<bytes> news;
    std::vector<scute_shield_replacement> changes;
    const bytes old = f.content;
    for (const wanted& w : all) {
      news.push_back(pattern(w.key, w.n));
      changes.push_back({w.offset, news.back().data(), old.data() + w.offset, w.n});
      std::copy(news.back().begin(), news.back().end(),
                f.content.begin() + static_cast<ptrdiff_t>(w.offset));
    }
    SCUTE_OKAY(scute_shield_replace(f.pool, changes.data(), changes.size()));
  }
  std::byte* header_of(uint64_t offset) const {
    scute_oid oid = 0;
    uint64_t at = 0;
    SCUTE_OKAY_E(scute_shield_locate(f.pool, offset, &oid, &at, nullptr));
    const auto o = f.in().heap->zones().locate(oid & 0x0000'ffff'ffff'ffffu);
    return f.in().s.at(o.fragment(at / 4096).header);
  }
  void lose(uint64_t page) const {
    scute_injection i;
    scute_injection_init(&i);
    i.kind = SCUTE_INJURE_LOSE_PAGE;
    i.offset = page;
    SCUTE_OKAY(scute_inject(f.pool, &i, nullptr, nullptr, nullptr));
  }
  uint64_t verified() const {
    uint64_t sum = f.in().s.verified_outside;
    for (const auto& l : f.in().s.lanes) sum += l.w.count.verified_bytes.get();
    return sum;
  }
  shielded f;
};
// With checksums.
class replace_checked : public replace {};
class replace_logfree : public replace {};

TEST_P(replace, IsATransaction) {
  open(300 * kib + 77);
  SCUTE_RANDOM(random);
  for (int round = 0; round < 200; ++round) {
    std::vector<wanted> all;
    for (uint64_t at = random.between(0, 5000); all.size() < 30;
         at += random.between(1, round % 3 == 0 ? 40000 : 300)) {
      const uint64_t n = random.between(1, random.one_in(10) ? 9000 : 130);
      if (at + n > f.content.size()) break;
      all.push_back({at, n, random.word()});
      at += n;
    }
    put(all);
    if (round % 50 == 49) {
      f.expect_content();
      f.expect_sound();
      f.reopen();
    }
  }
  f.close();
  f.expect_file();
}

// The first change of a page verifies it, and the second nothing.
TEST_P(replace_checked, VerifiesAPageOnce) {
  open(100000);
  const uint64_t at_first = verified();
  put({{200, 64, 1}, {8192, 64, 2}});
  const uint64_t before = verified();
  EXPECT_EQ(before - at_first, 2u * 4096);
  for (uint64_t i = 0; i < 20; ++i) put({{200, 64, 3 + i}, {8300, 100, i}});
  EXPECT_EQ(verified(), before);
  f.expect_sound();
}

// A line that is damaged is not what the caller had verified; its difference would reach the
// parity.
TEST_P(replace_checked, WhereTheMediumIsDamaged) {
  open(100000);
  for (const bool known : {false, true}) {
    if (known) put({{20000, 64, 1}});
    f.flip(20010);
    put({{20000, 64, 2}});
    f.expect_content();
    f.expect_sound();
    // Next to the line, in the same page: the damage stays, and a later reader repairs it.
    f.flip(20100);
    put({{20000, 64, 3}});
    f.expect_content();
    f.expect_sound();
  }
}

// REPLACE-1. The caller is mistaken about what the file holds.
TEST_P(replace_checked, WhereTheFileHoldsOtherBytes) {
  open(100000);
  for (const bool known : {false, true}) {
    if (known) put({{20000, 64, 1}});
    bytes mistaken = f.content;
    mistaken[20010] ^= 0x5a;
    std::swap(f.content, mistaken);
    put({{20000, 64, 2}});
    f.expect_content();
    f.expect_sound();
  }
}

// COL-3. A page of the file becomes noise, or is lost, when its change has been tested, and before
// it is written.
TEST_P(replace_checked, APageIsDamagedBeforeItIsWritten) {
  open(100000);
  core::instance& in = f.in();
  core::tx::replacer r(in.s, 200000 / 4096 + 1);
  for (const bool lost : {false, true})
    for (const uint64_t at : {20480ul, 20600ul, 24500ul, 0ul}) {
      core::tx::transaction& t = in.acquire();
      t.depth = 1;
      t.begin();
      {
        core::tx::object_lock_guard mine(in.s, t.lane());
        const auto o = in.heap->zones().locate(f.in().s.foreign->payload_offset(in.s.geo, 0));
        mine.add(o.payload);
        r.begin();
        const bytes a = pattern(at + 1 + lost, 64), b = pattern(at + 2 + lost, 128);
        const auto put = [&](uint64_t offset, const bytes& now) {
          r.put(o, 0, offset, reinterpret_cast<const std::byte*>(now.data()),
                reinterpret_cast<const std::byte*>(f.content.data()) + offset, now.size());
        };
        put(at, a);
        put(at + 1000, b);
        mine.take();
        ASSERT_TRUE(r.prepare(t.lane()));
        const uint64_t page = f.place_of(at / 4096 * 4096);
        if (lost) {
          lose(page);
        } else {
          const bytes noise = pattern(at + 3, 4096);
          std::memcpy(in.s.at(page), noise.data(), noise.size());
        }
        const core::pool::library_call within;
        t.commit(r.result());
        r.committed();
        std::copy(a.begin(), a.end(), f.content.begin() + static_cast<ptrdiff_t>(at));
        std::copy(b.begin(), b.end(), f.content.begin() + static_cast<ptrdiff_t>(at + 1000));
      }
      in.release(t);
      f.expect_content();
      f.expect_sound();
    }
  f.reopen();
  f.expect_content();
}

// REPLACE-2
TEST_P(replace_checked, UnderADamagedHeader) {
  open(100000);
  for (const uint64_t at : {20000ul, 99900ul, 0ul})
    for (unsigned byte = 0; byte < 32; ++byte) {
      put({{at, 64, byte}});
      header_of(at)[byte] ^= std::byte{0x10};
      put({{at, 64, 100 + byte}});
      f.expect_sound();
    }
  f.expect_content();
  f.reopen();
  f.expect_content();
}

// VERSION-3. The power fails when a change of two pages is durable and its parity is not. Two
// lines next to the changed bytes were damaged after the pages had been verified. The change is
// present, and the lines are repaired.
TEST_P(replace_logfree, LinesDamagedBeforeAPowerFailure) {
  open(400000);
  const auto& g = f.in().s.geo;
  const auto column = [&](uint64_t offset) {
    return (f.place_of(offset) - g.zone_offset(0)) % g.row_size;
  };
  const uint64_t a = 16384, parity = g.zone_offset(0) + g.data_size, n = g.parity * g.row_size;
  uint64_t b = 200704;
  while (column(b) == column(a)) b += 4096;
  for (const uint64_t damaged : {a + 64, a + 512, a + 640}) {
    put({{a + 576, 64, damaged}, {a + 2048, 64, damaged}, {b, 64, damaged}});
    f.in().drain();
    const bytes before = read_at(f.sidecar(), parity, n);
    f.flip(damaged + 3);
    f.flip((damaged < a + 576 ? damaged - 64 : damaged + 64) + 9);
    put({{a + 576, 64, 3 + damaged}, {a + 2048, 64, 4 + damaged}, {b, 64, 5 + damaged}});
    f.in().abandon();
    scute_close(f.pool);
    f.pool = nullptr;
    write_at(f.sidecar(), parity, before.data(), before.size());
    f.open();
    SCUTE_OKAY(scute_recovery_wait(f.pool, nullptr, nullptr));
    f.expect_content();
    f.expect_sound();
    scute_info now{};
    now.struct_size = sizeof now;
    SCUTE_OKAY(scute_pool_info(f.pool, &now));
    EXPECT_GE(now.repaired, 1u) << "damage is reported";
  }
}

// RES-12. The parity of one page was durable at the power failure, that of the other one was
// not. The damage to that one exceeds what its columns cover. It is refused, and does not get
// its old bytes next to the other page's new ones.
TEST_P(replace_logfree, NoHalfOfATransactionComesBack) {
  open(400000);
  const auto& g = f.in().s.geo;
  const auto column_at = [&](uint64_t at) { return (at - g.zone_offset(0)) % g.row_size; };
  const auto column = [&](uint64_t offset) { return column_at(f.place_of(offset)); };
  const auto header_at = [&](uint64_t offset) {
    return static_cast<uint64_t>(header_of(offset) - f.in().s.at(0));
  };
  const auto block = [](uint64_t at) { return at / 4096; };
  const uint64_t a = 16384, parity = g.zone_offset(0) + g.data_size;
  uint64_t b = 200704;
  // No two cells in one column: a transaction without a log.
  const auto apart = [&] {
    const std::set<uint64_t> payloads{block(column(a)), block(column(b))};
    return payloads.size() == 2 && payloads.count(block(column_at(header_at(a)))) == 0 &&
           payloads.count(block(column_at(header_at(b)))) == 0;
  };
  while (!apart()) {
    b += 4096;
    ASSERT_LT(b, f.content.size());
  }
  put({{a + 576, 64, 1}, {b, 64, 2}});
  f.in().drain();
  // The columns of a, and of its header.
  std::vector<std::pair<uint64_t, bytes>> before;
  for (uint64_t k = 0; k < g.parity; ++k) {
    const uint64_t row = parity + k * g.row_size;
    before.emplace_back(row + column(a), bytes());
    before.emplace_back(row + column_at(header_at(a)), bytes());
    before[2 * k].second = read_at(f.sidecar(), before[2 * k].first, 4096);
    before[2 * k + 1].second = read_at(f.sidecar(), before[2 * k + 1].first, 32);
  }
  f.flip(a + 70);
  f.flip(a + 3000);
  put({{a + 576, 64, 3}, {b, 64, 5}});
  f.in().abandon();
  scute_close(f.pool);
  f.pool = nullptr;
  for (const auto& [at, what] : before) write_at(f.sidecar(), at, what.data(), what.size());
  f.open();
  SCUTE_OKAY(scute_recovery_wait(f.pool, nullptr, nullptr));
  char one[64];
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_shield_read(f.pool, a + 576, one, sizeof one));
  EXPECT_TRUE(f.read(b, 64) == bytes(f.content.begin() + static_cast<ptrdiff_t>(b),
                                     f.content.begin() + static_cast<ptrdiff_t>(b) + 64));
  scute_info now{};
  now.struct_size = sizeof now;
  SCUTE_OKAY(scute_pool_info(f.pool, &now));
  EXPECT_GE(now.lost, 1u);
  // It stays so.
  f.reopen();
  SCUTE_FAILS(SCUTE_E_CORRUPT, scute_shield_read(f.pool, a, one, sizeof one));
}

TEST_P(replace, WhileTheFileGrows) {
  open(200001);
  for (uint64_t size = 200100; size < 240000; size += 3333) {
    put({{100, 64, size}, {f.content.size() - 64, 64, size + 1}});
    f.grow(size);
    put({{f.content.size() - 64, 64, size + 2}});
  }
  f.expect_content();
  f.expect_sound();
}

// Other threads change and repair other places of the same pages.
TEST_P(replace, AmongOtherFiles) {
  open(100000);
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0};
  std::thread other([&] {
    for (unsigned i = 0; i == 0 || !stop; ++i) {
      const bytes b(200, static_cast<unsigned char>(i));
      const scute_shield_change c{5000, b.data(), b.size()};
      if (scute_shield_write(f.pool, &c, 1) != SCUTE_OK) ++failed;
      scute_report r{};
      r.struct_size = sizeof r;
      if (i % 16 == 0 && scute_scrub(f.pool, nullptr, &r) != SCUTE_OK) ++failed;
    }
  });
  for (uint64_t i = 0; i < 2000; ++i) put({{4096, 64, i}, {6000, 64, i + 1}, {90000, 640, i}});
  stop = true;
  other.join();
  EXPECT_EQ(failed, 0);
  const bytes now = f.read(5000, 200);
  EXPECT_TRUE(now == bytes(200, now[0]));
  std::copy(now.begin(), now.end(), f.content.begin() + 5000);
  f.expect_content();
  f.expect_sound();
}

TEST_P(replace, RefusesWhatMakesNoSense) {
  open(10000);
  const bytes b(64);
  const auto* at = f.content.data();
  const scute_shield_replacement over[] = {{100, b.data(), at + 100, 64},
                                           {163, b.data(), at + 163, 10}},
                                 back[] = {{100, b.data(), at + 100, 64}, {0, b.data(), at, 10}},
                                 beyond{9990, b.data(), at + 9990, 11},
                                 unknown{0, b.data(), nullptr, 10};
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_replace(f.pool, over, 2));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_replace(f.pool, back, 2));
  SCUTE_FAILS(SCUTE_E_RANGE, scute_shield_replace(f.pool, &beyond, 1));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_replace(f.pool, &unknown, 1));
  SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_replace(f.pool, nullptr, 1));
  SCUTE_OKAY(scute_shield_replace(f.pool, nullptr, 0));
  {
    transaction t(f.pool);
    SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_replace(f.pool, over, 1));
  }
  f.expect_content();
}

// REPLACE-3, TX-3. Damage that a change meets and cannot repair refuses the change; the next
// change succeeds.
TEST_P(replace_checked, ContinuesAfterALoss) {
  open(400000);
  const uint64_t rows = f.state().rows, row = f.in().s.geo.row_size;
  ASSERT_GT(rows, GetParam().parity + 1);
  // As many pages of a column as there are parities, and one more.
  std::vector<uint64_t> lost;
  for (uint64_t i = 0; lost.size() <= GetParam().parity; ++i) {
    const uint64_t at = 4096 + i * row;
    ASSERT_LT(at + 4096, f.content.size());
    for (uint64_t k = 0; k < 4096; k += 64) f.flip(at + k, static_cast<unsigned char>(1 + i));
    lost.push_back(at);
  }
  const bytes b(64);
  for (const bool known : {false, true}) {
    const scute_shield_change c[] = {{0, b.data(), 64}, {lost[0], b.data(), 64}};
    const scute_shield_replacement r[] = {{0, b.data(), f.content.data(), 64},
                                          {lost[0], b.data(), f.content.data() + lost[0], 64}};
    SCUTE_FAILS(SCUTE_E_CORRUPT,
                known ? scute_shield_replace(f.pool, r, 2) : scute_shield_write(f.pool, c, 2));
    EXPECT_TRUE(f.read(0, 64) == bytes(f.content.begin(), f.content.begin() + 64));
    put({{0, 64, 9}});
    EXPECT_TRUE(f.read(0, 64) == bytes(f.content.begin(), f.content.begin() + 64));
  }
}

std::string name_of(const ::testing::TestParamInfo<kind>& i) {
  const char* engines[] = {"any", "redo", "logfree", "spec"};
  const char* protections[] = {"none", "ml", "mlp", "mlpc"};
  return std::string(i.param.where == scratch::disk ? "disk_" : "") + engines[i.param.engine] +
         "_" + protections[i.param.protection] + std::to_string(i.param.parity);
}

INSTANTIATE_TEST_SUITE_P(
    kinds, replace,
    ::testing::Values(kind{scratch::memory, SCUTE_ENGINE_REDO, SCUTE_PROTECT_MLP, 1},
                      kind{scratch::memory, SCUTE_ENGINE_SPEC, SCUTE_PROTECT_NONE, 0}),
    name_of);
const auto checked =
    ::testing::Values(kind{scratch::memory, SCUTE_ENGINE_LOGFREE, SCUTE_PROTECT_MLPC, 1},
                      kind{scratch::memory, SCUTE_ENGINE_LOGFREE, SCUTE_PROTECT_MLPC, 2},
                      kind{scratch::memory, SCUTE_ENGINE_REDO, SCUTE_PROTECT_MLPC, 1},
                      kind{scratch::memory, SCUTE_ENGINE_SPEC, SCUTE_PROTECT_MLPC, 1},
                      kind{scratch::disk, SCUTE_ENGINE_AUTO, SCUTE_PROTECT_MLPC, 1});
INSTANTIATE_TEST_SUITE_P(with_checksums, replace, checked, name_of);
INSTANTIATE_TEST_SUITE_P(kinds, replace_checked, checked, name_of);
INSTANTIATE_TEST_SUITE_P(
    kinds, replace_logfree,
    ::testing::Values(kind{scratch::memory, SCUTE_ENGINE_LOGFREE, SCUTE_PROTECT_MLPC, 1},
                      kind{scratch::memory, SCUTE_ENGINE_LOGFREE, SCUTE_PROTECT_MLPC, 2}),
    name_of);

}  // namespace
}  // namespace scute::test

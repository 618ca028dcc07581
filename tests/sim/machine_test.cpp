// SPDX-License-Identifier: BSD-3-Clause
// The machine model: its parts against naive models, and programs whose answers are known.
#include "machine/machine.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "machine/settings.hpp"
#include "support/project_paths.hpp"

namespace scute::sim {
namespace {

constexpr uint64_t pm = uint64_t{1} << 40, ram = uint64_t{1} << 32;

TEST(Settings, NamesAreChecked) {
  settings s;
  set(s, "pm.write", "123.5");
  EXPECT_EQ(s.pm_write, 123.5);
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"pm.wright", "1"},
                                                        {"pm.write", "fast"},
                                                        {"l1.sets", "3"},
                                                        {"l1.ways", "0"},
                                                        {"scheme.hot", "8"},
                                                        {"pm.banks", "1.5"},
                                                        {"pm.write", "nan"},
                                                        {"pm.write", ""}})
    EXPECT_THROW(set(s, name, value), std::invalid_argument) << name << " = " << value;
}

TEST(Settings, FilesOfTheProjectAreRead) {
  const std::string folder = test::source_path("sim/machines/");
  for (const char* name : {"table1", "optane", "cxl", "dram", "here"})
    EXPECT_NO_THROW(read_settings(folder + name + ".machine")) << name;
  // The defaults are Table 1.
  EXPECT_EQ(read_settings(folder + "table1.machine"), settings{});
  EXPECT_THROW(read_settings(folder + "none.machine"), std::runtime_error);
}

struct entry {
  uint64_t key;
  int value;
};

TEST(LineCache, ReplacesLikeTheNaiveModel) {
  std::mt19937 random(7);
  for (const auto& [sets, ways] : {std::pair{1U, 1U}, {4U, 3U}, {16U, 8U}, {5U, 2U}}) {
    line_cache<entry> cache(sets, ways);
    std::map<uint64_t, std::deque<uint64_t>> naive;  // by set, the one used last in front
    for (int i = 0; i < 20000; ++i) {
      const uint64_t key = random() % (sets * ways * 3);
      auto& set = naive[key % sets];
      const auto at = std::ranges::find(set, key);
      const bool there = at != set.end();
      ASSERT_EQ(cache.use(key) != nullptr, there);
      if (there)
        set.erase(at);
      else if (set.size() == ways) {
        ASSERT_EQ(cache.victim(key).key, set.back());
        set.pop_back();
      }
      if (!there) cache.insert(key);
      set.push_front(key);
    }
  }
}

// MESI-1, MESI-2, MESI-3, while two cores use few lines at random.
TEST(Caches, KeepTheirInvariants) {
  settings s;
  s.l1_sets = 4;
  s.l1_ways = 2;
  s.l2_sets = 4;
  s.l2_ways = 4;
  s.tlb1 = 4;
  s.tlb1_ways = 2;
  s.tlb2 = 8;
  s.tlb2_ways = 2;
  machine m(s);
  m.mem.add_persistent(pm, 1 << 20);
  std::mt19937 random(3);
  operation op;
  for (int i = 0; i < 20000; ++i) {
    const reference r{(random() % 2 != 0 ? pm : ram) + random() % 64 * 1024, 8, random() % 3 == 0};
    op.kind = random() % 16 == 0   ? operation_kind::write_back
              : random() % 40 == 0 ? operation_kind::flush
                                   : operation_kind::plain;
    m.cores[random() % 2].run(op, {&r, 1});
    if (i % 16 == 0) m.cache.verify();
  }
}

// SIM-1.
TEST(Machine, RepeatsExactly) {
  const auto play = [] {
    machine m{settings{}};
    m.mem.add_persistent(pm, 1 << 24);
    std::mt19937 random(5);
    operation op;
    for (int i = 0; i < 30000; ++i) {
      op.kind = static_cast<operation_kind>(random() % 7);
      op.from[0] = static_cast<uint8_t>(random() % 16);
      op.to[0] = static_cast<uint8_t>(random() % 16);
      const reference r{pm + random() % (1 << 22) / 8 * 8, 8, random() % 2 == 0};
      m.cores[i / 100 % 2].run(op, {&r, 1});
    }
    return m.end();
  };
  EXPECT_EQ(play(), play());
}

// ---- programs whose answers are known -----------------------------------------------------------

operation chained() {
  operation op;
  op.cycles = 0;
  op.address[0] = op.to[0] = 1;
  return op;
}

// ns of a load that waits for the one before it, over a set that many bytes large, each line in
// turn by a large step.
double chase(const settings& s, uint64_t base, uint64_t bytes) {
  machine m(s);
  m.mem.add_persistent(pm, uint64_t{1} << 30);
  const uint64_t lines = bytes / line_bytes;
  const operation op = chained();
  ticks start = 0;
  const uint64_t n = lines;
  for (uint64_t i = 0, line = 0; i < 2 * n; ++i) {
    if (i == n) start = m.cores[0].end();
    const reference r{base + line * line_bytes, 8, false};
    m.cores[0].run(op, {&r, 1});
    line = (line + 1021) % lines;
  }
  return to_ns(m.cores[0].end() - start) / static_cast<double>(n);
}

settings without_translation() {
  settings s;
  s.tlb1 = s.tlb1_ways = 64;
  s.tlb2 = 1U << 13;
  s.tlb2_cycles = s.walk_cycles = 0;
  s.mispredict = 0;
  return s;
}

TEST(Kernel, PointerChaseShowsEachLevel) {
  settings s = without_translation();
  s.l1_sets = 16;  // 8 KiB, and 48 KiB below it
  s.l2_sets = 64;
  EXPECT_NEAR(chase(s, ram, 4 << 10), 0.5, 0.01);      // 2 cycles
  EXPECT_NEAR(chase(s, ram, 32 << 10), 5.5, 0.05);     // and 20 more
  EXPECT_NEAR(chase(s, pm, 512 << 10), 5.5 + 150, 1);  // and the memory
  // A row that is not open: 10 of the controller, tRP + tRCD + tCL, the burst.
  EXPECT_NEAR(chase(s, ram, 16 << 20), 5.5 + 10 + 42 + 3.33, 4);
  settings linked = s;
  linked.pm_link = 80;
  EXPECT_NEAR(chase(linked, pm, 512 << 10), 5.5 + 150 + 160, 1);
}

TEST(Kernel, TranslationCostsWhatItIsSaidTo) {
  settings s;
  s.mispredict = 0;
  s.l1_cycles = s.l2_cycles = 1;
  const settings none = [&] {
    settings n = s;
    n.tlb1 = n.tlb1_ways = n.tlb2 = 1U << 15;
    n.tlb2_ways = 8;
    return n;
  }();
  // 512 pages: in the large buffer only.
  const auto pages = [](const settings& of) {
    machine m(of);
    const operation op = chained();
    ticks start = 0;
    for (int i = 0; i < 3000; ++i) {
      if (i == 1500) start = m.cores[0].end();
      const reference r{
          ram + static_cast<uint64_t>(i % 500) * page_bytes + i % 500 % 64 * line_bytes, 8, false};
      m.cores[0].run(op, {&r, 1});
    }
    return to_ns(m.cores[0].end() - start) / 1500;
  };
  EXPECT_NEAR(pages(s) - pages(none), s.tlb2_cycles / s.core_ghz, 0.1);
}

// Independent misses overlap, as many as there are buffers; dependent ones do not.
TEST(Kernel, MissesOverlapUpToTheFillBuffers) {
  for (const unsigned fills : {1U, 4U, 8U}) {
    settings s = without_translation();
    s.fills = fills;
    machine m(s);
    m.mem.add_persistent(pm, uint64_t{1} << 30);
    operation op;
    const int n = 4000;
    for (int i = 0; i < n; ++i) {
      // Each in a bank of its own.
      const reference r{pm + static_cast<uint64_t>(i) * (256 + 4096 * 4), 8, false};
      m.cores[0].run(op, {&r, 1});
    }
    const double each = to_ns(m.cores[0].end()) / n;
    EXPECT_NEAR(each, 155.5 / fills, 155.5 / fills * 0.15) << fills;
  }
}

// Bandwidth of writes: a row of each bank at once.
TEST(Kernel, StreamsReachTheBanksBandwidth) {
  for (const auto& [banks, merge] : {std::pair{1U, false}, {4U, false}, {16U, false}, {4U, true}}) {
    settings s = without_translation();
    s.pm_banks = banks;
    s.pm_merge = merge;
    s.pm_row = merge ? 256 : 64;
    s.pm_queue = 4096;
    machine m(s);
    m.mem.add_persistent(pm, uint64_t{1} << 30);
    operation op;
    op.kind = operation_kind::stream;
    const int n = 8000;
    for (int i = 0; i < n; ++i) {
      const reference r{pm + static_cast<uint64_t>(i) * 64, 64, true};
      m.cores[0].run(op, {&r, 1});
    }
    op.kind = operation_kind::fence;
    m.cores[0].run(op, {});
    const double bytes_per_ns = n * 64 / to_ns(m.cores[0].end());
    const double expected = banks * (merge ? 256 : 64) / 500.0;
    EXPECT_NEAR(bytes_per_ns, expected, expected * 0.05) << banks << merge;
  }
}

// A store, its write-back and a fence: the way to the memory and the queue. PMEM-1: when the queue
// is full, a bank's time.
TEST(Kernel, FlushAndFenceShowTheQueue) {
  settings s = without_translation();
  s.pm_banks = 1;
  s.pm_row = 64;
  s.pm_merge = false;
  machine m(s);
  m.mem.add_persistent(pm, uint64_t{1} << 20);
  std::vector<double> each;
  for (int i = 0; i < 30; ++i) {
    const reference r{pm + static_cast<uint64_t>(i) * 64, 8, true};
    operation op;
    m.cores[0].run(op, {&r, 1});
  }
  const ticks warm = m.cores[0].end();
  m.cores[0].wait(warm + from_ns(100000));
  for (int i = 0; i < 30; ++i) {
    const ticks before = m.cores[0].end();
    const reference r{pm + static_cast<uint64_t>(i) * 64, 8, true};
    operation op;
    m.cores[0].run(op, {&r, 1});
    op.kind = operation_kind::write_back;
    m.cores[0].run(op, {&r, 1});
    op.kind = operation_kind::fence;
    m.cores[0].run(op, {});
    each.push_back(to_ns(m.cores[0].end() - before));
  }
  EXPECT_NEAR(each[3], 5.5 + 10, 2);  // 22 cycles to the controller, 10 ns to be accepted
  EXPECT_NEAR(each[25], 500, 2);      // one bank that writes
}

// ---- rules of the memory and the core -----------------------------------------------------------

TEST(PersistentMemory, AcceptsInOrderAndJoins) {
  settings s;
  s.pm_banks = 1;
  s.pm_row = 64;
  s.pm_merge = false;
  persistent_memory m(s);
  ticks last = 0;
  for (uint64_t line = 0; line < 20; ++line) {
    const ticks accepted = m.write(line, 0);
    EXPECT_GE(accepted, last) << "PMEM-1";
    last = accepted;
  }
  // PMEM-2: the 19th line is queued and not being written.
  const uint64_t writes = m.counted().writes;
  const ticks again = m.write(19, last);
  EXPECT_EQ(m.counted().writes, writes) << "PMEM-2";
  EXPECT_LE(again, last + from_ns(10));
  // PMEM-3: a read waits for what is being written, not for what waits.
  const ticks read = m.read(1000, last);
  EXPECT_LE(read, last + from_ns(500 + 150)) << "PMEM-3";
}

TEST(PersistentMemory, VersionsOfALineKeepTheirOrder) {
  settings s;
  persistent_memory m(s);
  const ticks late = m.write(7, from_ns(5000));
  EXPECT_GE(m.write(7, from_ns(10)), late) << "PMEM-4";
}

// CORE-1: a store that waits holds up the ones after it; CORE-2, CORE-3: a fence waits for
//         write-backs.
TEST(Core, StoresAreMadeInOrder) {
  struct recorder final : observer {
    std::vector<ticks> made;
    ticks storing(unsigned, uint64_t, unsigned, l1_line&, tlb_page&, ticks at) override {
      const ticks when = made.empty() ? at + from_ns(1000) : at;
      made.push_back(when);
      return when;
    }
  } watch;
  machine m{settings{}};
  m.mem.add_persistent(pm, 1 << 20);
  m.cache.watch = &watch;
  operation op;
  for (const uint64_t line : {1U, 2U, 3U}) {
    const reference r{pm + line * 64, 8, true};
    m.cores[0].run(op, {&r, 1});
  }
  ASSERT_EQ(watch.made.size(), 3U);
  EXPECT_LT(watch.made[0], watch.made[1]) << "CORE-1";
  EXPECT_LT(watch.made[1], watch.made[2]) << "CORE-1";
  EXPECT_GT(watch.made[0], from_ns(1000));
  std::vector<std::pair<uint64_t, ticks>> durable;
  m.mem.on_durable = [&](uint64_t line, ticks at) { durable.emplace_back(line, at); };
  op.kind = operation_kind::write_back;
  const reference r{pm + 64, 1, false};
  m.cores[0].run(op, {&r, 1});
  ASSERT_EQ(durable.size(), 1U);
  EXPECT_GT(durable[0].second, watch.made[0]) << "CORE-2";
  op.kind = operation_kind::fence;
  m.cores[0].run(op, {});
  EXPECT_GE(m.cores[0].end(), durable[0].second) << "CORE-3";
}

// CORE-3, where a fence does not hold what follows: only later stores wait for it.
TEST(Core, AFenceMayDelayStoresAlone) {
  const auto play = [](bool holds) {
    settings s = without_translation();
    s.pm_accept = 1000;
    s.fence_holds = holds;
    machine m(s);
    m.mem.add_persistent(pm, 1 << 20);
    operation op;
    const reference stored{pm, 8, true}, next{pm + 64, 8, true};
    m.cores[0].run(op, {&stored, 1});
    op.kind = operation_kind::write_back;
    m.cores[0].run(op, {&stored, 1});
    op.kind = operation_kind::fence;
    m.cores[0].run(op, {});
    const operation computes;
    for (int i = 0; i < 100; ++i) m.cores[0].run(computes, {});
    const double retired = to_ns(m.cores[0].now());
    m.cores[0].run(computes, {&next, 1});
    return std::pair{retired, to_ns(m.cores[0].drained())};
  };
  const auto [held, held_stores] = play(true);
  EXPECT_GT(held, 1000);
  EXPECT_GT(held_stores, 1000);
  const auto [free, free_stores] = play(false);
  EXPECT_LT(free, 400);
  EXPECT_GT(free_stores, 1000) << "CORE-3";
}

// Lines that come from the caches take longer than those of non-temporal stores, which wait for a
// copy to leave.
TEST(Core, ALineTakesItsWayOutOfTheCaches) {
  settings s = without_translation();
  const auto flushed = [](const settings& of, operation_kind kind, bool cached) {
    machine m(of);
    m.mem.add_persistent(pm, 1 << 20);
    const reference line{pm, 64, true};
    operation op;
    if (cached) m.cores[0].run(op, {&line, 1});
    m.cores[0].wait(from_ns(10000));
    op.kind = kind;
    m.cores[0].run(op, {&line, 1});
    op.kind = operation_kind::fence;
    m.cores[0].run(op, {});
    return to_ns(m.cores[0].end()) - 10000;
  };
  settings slow = s;
  slow.pm_write_back = 60;
  const auto more = [&](operation_kind kind, bool cached) {
    return flushed(slow, kind, cached) - flushed(s, kind, cached);
  };
  EXPECT_NEAR(more(operation_kind::write_back, true), 60, 1);
  EXPECT_NEAR(more(operation_kind::stream, false), 0, 1);
  EXPECT_NEAR(more(operation_kind::stream, true), 60, 1);
}

TEST(Kernel, AThirdLevelHasWhatHasLeftTheSecond) {
  settings s = without_translation();
  s.l1_sets = 16;  // 8 KiB, 48 KiB, and 256 KiB below them
  s.l2_sets = 64;
  s.l3_sets = 256;
  s.l3_cycles = 40;
  EXPECT_NEAR(chase(s, pm, 32 << 10), 5.5, 0.05);
  EXPECT_NEAR(chase(s, pm, 128 << 10), 5.5 + 10, 0.5);
  EXPECT_NEAR(chase(s, pm, 1 << 20), 5.5 + 10 + 150, 1);
}

TEST(Kernel, LargePagesNeedFewTranslations) {
  settings s;
  const double small = chase(s, pm, 16 << 20);
  s.pm_page = 2048;
  EXPECT_GT(small - chase(s, pm, 16 << 20), 1.5);
  EXPECT_NEAR(chase(s, pm, 16 << 20), chase(without_translation(), pm, 16 << 20), 1);
}

}  // namespace
}  // namespace scute::sim

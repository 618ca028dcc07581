// SPDX-License-Identifier: BSD-3-Clause
// How stores, loads and what is fetched ahead meet in a core: each number of a machine by a loop
// that shows it alone.
#include <gtest/gtest.h>

#include "machine/machine.hpp"

namespace scute::sim {
namespace {

constexpr uint64_t pm = uint64_t{1} << 40;

settings plain() {
  settings s;
  s.tlb1 = s.tlb1_ways = 64;
  s.tlb2 = 1U << 13;
  s.tlb2_cycles = s.walk_cycles = 0;
  s.mispredict = 0;
  return s;
}

struct program {
  explicit program(const settings& s) : m(s) { m.mem.add_persistent(pm, uint64_t{1} << 30); }
  core& on() { return m.cores[0]; }
  void store(uint64_t address, unsigned bytes, uint8_t from,
             operation_kind kind = operation_kind::plain) {
    operation op;
    op.kind = kind;
    op.from[0] = from;
    const reference r{address, bytes, true};
    on().run(op, {&r, 1});
  }
  void load(uint64_t address, unsigned bytes, uint8_t to, uint8_t by = operation::none) {
    operation op;
    op.cycles = 0;
    op.address[0] = by;
    op.to[0] = to;
    const reference r{address, bytes, false};
    on().run(op, {&r, 1});
  }
  void compute(uint8_t from, uint8_t to, uint8_t cycles) {
    operation op;
    op.from[0] = from;
    op.to[0] = to;
    op.cycles = cycles;
    on().run(op, {});
  }
  void flush(uint64_t address) {
    operation op;
    op.kind = operation_kind::write_back;
    const reference r{address, 1, false};
    on().run(op, {&r, 1});
  }
  void only(operation_kind kind) {
    operation op;
    op.kind = kind;
    on().run(op, {});
  }
  double ns() { return to_ns(on().now()); }
  machine m;
};

// ns of a round of: store what was loaded, load it again.
double store_and_load(const settings& s, unsigned stored, unsigned loaded) {
  program p(s);
  p.load(pm, 8, 1);
  const double from = p.ns();
  for (int i = 0; i < 100; ++i) {
    p.store(pm, stored, 1);
    p.load(pm, loaded, 1);
  }
  return (p.ns() - from) / 100;
}

// CORE-4.
TEST(Core, LoadsHaveWhatStoresHold) {
  settings s = plain();
  // A cycle of the store's own, and those of the way.
  EXPECT_NEAR(store_and_load(s, 8, 8), (5 + 1) / 4.0, 0.1);
  s.forward = 9;
  EXPECT_NEAR(store_and_load(s, 8, 8), (9 + 1) / 4.0, 0.1);
  // A load of more bytes than one store has waits until that store is made, after a fence if there
  // is one.
  s.pm_accept = 1000;
  const auto behind_fence = [&](unsigned loaded) {
    program p(s);
    p.m.mem.add_persistent(pm, 4096);
    p.load(pm, 8, 1);
    p.load(pm + 64, 8, 1);
    settings free = s;
    free.fence_holds = false;
    program q(free);
    q.store(pm, 8, operation::none);
    q.flush(pm);
    q.only(operation_kind::fence);
    q.store(pm + 64, 8, operation::none);
    q.load(pm + 64, loaded, 1);
    return q.ns();
  };
  EXPECT_LT(behind_fence(8), 500);
  EXPECT_GT(behind_fence(16), 1000);
}

TEST(Core, AColdLineMayHaveToCome) {
  const auto play = [](bool cold) {
    settings s = plain();
    s.forward_cold = cold;
    program p(s);
    p.store(pm + 4096, 8, operation::none);
    p.load(pm + 4096, 8, 1);
    return p.ns();
  };
  EXPECT_LT(play(true), 10);
  EXPECT_GT(play(false), 150);
}

// The operands that an instruction computes with are not needed for its address.
TEST(Core, LoadsBeginBeforeTheRest) {
  program p(plain());
  for (unsigned i = 0; i < 8; ++i) {
    operation op;
    op.from[0] = op.to[0] = 1;  // a sum
    const reference r{pm + i * uint64_t{65536 + 256}, 8, false};
    p.on().run(op, {&r, 1});
  }
  EXPECT_LT(p.ns(), 300);  // all misses at once
  program q(plain());
  for (unsigned i = 0; i < 8; ++i) q.load(pm + i * uint64_t{65536 + 256}, 8, 1, 1);  // a chain
  EXPECT_GT(q.ns(), 8 * 150);
}

TEST(Core, LoadFencesDelayLaterInstructions) {
  const auto play = [](bool fenced) {
    program p(plain());
    for (unsigned i = 0; i < 8; ++i) {
      p.load(pm + i * uint64_t{65536 + 256}, 8, 1);
      if (fenced) p.only(operation_kind::load_fence);
    }
    return p.ns();
  };
  EXPECT_LT(play(false), 300);
  EXPECT_GT(play(true), 8 * 150);
}

// PMEM-4: non-temporal stores leave no copy, and a load of their line comes after them.
TEST(Core, LoadsComeAfterStreamedLines) {
  settings s = plain();
  s.pm_accept = 500;
  s.pm_banks = 64;
  program p(s);
  p.load(pm, 8, 1);
  const double cached = p.ns();
  p.load(pm, 8, 1);
  EXPECT_NEAR(p.ns(), cached, 2);
  p.store(pm, 32, operation::none, operation_kind::stream);
  p.load(pm, 8, 1);
  EXPECT_GT(p.ns(), cached + 500 + 100);
}

TEST(Core, AWriteBackMayDelayItsLine) {
  const auto play = [](bool holds) {
    settings s = plain();
    s.pm_accept = 500;
    s.write_back_holds = holds;
    program p(s);
    p.store(pm, 8, operation::none);
    p.compute(operation::none, 2, 255);
    for (int i = 0; i < 8; ++i) p.compute(2, 2, 255);
    p.flush(pm);
    const double from = p.ns();
    p.load(pm, 8, 1, 2);  // after all that
    return p.ns() - from;
  };
  EXPECT_LT(play(false), 20);
  EXPECT_GT(play(true), 450);
}

// Blocks of 4 KiB: the lines after the third one are there when they are asked for.
TEST(Core, WhatComesNextIsFetchedAhead) {
  const auto play = [](unsigned ahead, int step) {
    settings s = plain();
    s.prefetch = ahead;
    s.fills = 2;
    s.pm_banks = 64;
    s.pm_row = 64;
    program p(s);
    for (int block = 0; block < 20; ++block)
      for (int line = 0; line < 64; ++line)
        p.load(pm + static_cast<uint64_t>(block) * 65536 +
                   static_cast<uint64_t>(step > 0 ? line : line * 37 % 64) * 64,
               8, 1);
    return p.ns() / 20;
  };
  EXPECT_GT(play(0, 1), 64 * 155 / 2 * 0.9);
  EXPECT_LT(play(16, 1), play(0, 1) / 4);
  EXPECT_GT(play(16, 0), play(0, 0) * 0.9);
}

TEST(PersistentMemory, LinesComeOneAfterTheOther) {
  settings s = plain();
  s.pm_banks = 64;
  s.pm_row = 64;
  s.pm_burst = 7;
  persistent_memory m(s);
  ticks last = 0;
  for (uint64_t line = 0; line < 32; ++line) last = m.read(line, 0);
  EXPECT_NEAR(to_ns(last), 150 + 31 * 7, 1);
  s.pm_burst_write = 11;
  s.pm_queue = 4096;
  persistent_memory n(s);
  for (uint64_t line = 0; line < 32; ++line) last = n.write(line, 0);
  EXPECT_NEAR(to_ns(last), 32 * 11 + 10, 12);
}

}  // namespace
}  // namespace scute::sim

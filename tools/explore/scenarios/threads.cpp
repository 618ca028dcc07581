// SPDX-License-Identifier: BSD-3-Clause
// Two and three threads, each on its own objects, interleaved at their operations on the medium.
// Their objects are neighbours, so the threads meet in column blocks, chunks and the allocator.
#include "scenarios/catalogue.hpp"
#include "scenarios/random_change.hpp"

namespace scute::explore {
namespace {

// Small neighbours: atomic parity, shared stripes, one thread's log against another's bytes.
testing::scenario neighbours(const level& l) {
  auto s = with_directories(std::string("threads-neighbours/") + l.name, l.protection, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned k = 0; k < 3; ++k)
      for (unsigned t = 0; t < 2; ++t) commit(p, t, [&](change& c) { c.alloc(k, 90, k + t); });
  });
  for (unsigned t = 0; t < 2; ++t)
    for (unsigned k = 0; k < 3; ++k)
      s.in_thread(t).step("overwrite " + std::to_string(k), [t, k](scute::pool& p) {
        commit(p, t, [&](change& c) {
          c.overwrite(k, 10 * t + k);
          if (k == 1) c.edit(2, 8, 8, 50 + t);
        });
      });
  return s;
}

// Pages of one column: long deltas under exclusive stripes, and in-place ranges next to them.
testing::scenario columns(const level& l) {
  auto s = with_directories(std::string("threads-columns/") + l.name, l.protection, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned k = 0; k < 4; ++k) commit(p, k % 2, [&](change& c) { c.alloc(k, 15000, k); });
  });
  for (unsigned t = 0; t < 2; ++t) {
    s.in_thread(t).step("long ranges", [t](scute::pool& p) {
      commit(p, t, [&](change& c) {
        c.edit(t, 2000, 600, 20 + t);
        c.edit(t + 2, 6000, 40, 30 + t);
      });
    });
    s.in_thread(t).step("in place", [t](scute::pool& p) {
      commit(p, t, [&](change& c) { c.edit_in_place(t, 2100, 900, 40 + t); });
    });
    s.in_thread(t).step("in place, aborted", [t](scute::pool& p) {
      change c(p, t);
      c.edit_in_place(t + 2, 1000, 900, 50 + t);
      c.abort();
    });
  }
  return s;
}

// One thread frees what the other's allocations may then take.
testing::scenario allocator(const level& l) {
  auto s = with_directories(std::string("threads-allocator/") + l.name, l.protection, 2);
  s.may_run_full();
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned k = 0; k < 4; ++k)
      for (unsigned t = 0; t < 2; ++t) commit(p, t, [&](change& c) { c.alloc(k, 120, k + t); });
    commit(p, 0, [&](change& c) { c.alloc(5, 40000, 9); });
  });
  s.in_thread(0)
      .step("free two",
            [](scute::pool& p) {
              commit(p, 0, [&](change& c) {
                c.free(0);
                c.free(2);
              });
            })
      .step("free a large one", [](scute::pool& p) { commit(p, 0, [&](change& c) { c.free(5); }); })
      .step("allocate",
            [](scute::pool& p) { commit(p, 0, [&](change& c) { c.alloc(0, 120, 60); }); });
  s.in_thread(1)
      .step("allocate two",
            [](scute::pool& p) {
              commit(p, 1, [&](change& c) {
                c.alloc(6, 120, 61);
                c.alloc(7, 120, 62);
              });
            })
      .step("allocate large",
            [](scute::pool& p) { commit(p, 1, [&](change& c) { c.alloc(8, 30000, 63); }); })
      .step("free one, allocate one", [](scute::pool& p) {
        commit(p, 1, [&](change& c) {
          c.free(1);
          c.alloc(9, 120, 64);
        });
      });
  return s;
}

// locks: for all column blocks; 0: one for each.
testing::scenario random(const level& l, unsigned threads, uint64_t seed, unsigned locks = 0) {
  auto s = with_directories((locks != 0 ? "threads-collide-" : "threads-random-") +
                                std::to_string(threads) + "/" + l.name,
                            l.protection, threads);
  if (locks != 0) s.share_locks(locks);
  s.may_run_full();
  s.setup([seed, threads](scute::pool& p) {
    make_directories(p);
    for (unsigned k = 0; k < 2 * threads; ++k) {
      try {
        change_at_random(p, k % threads, seed * 1000 + 900 + k);
      } catch (const scute::error& e) {
        if (e.which() != errc::nospc) throw;
      }
    }
  });
  for (unsigned t = 0; t < threads; ++t)
    for (unsigned k = 0; k < 5; ++k)
      s.in_thread(t).step(
          "random transaction " + std::to_string(k),
          [t, n = seed * 1000 + 100 * t + k](scute::pool& p) { change_at_random(p, t, n); });
  return s;
}

}  // namespace

void add_thread_scenarios(std::vector<entry>& to) {
  add_at_all_levels(
      {{"threads-neighbours", "two threads on neighbouring small objects", neighbours},
       {"threads-columns", "two threads on pages of the same columns", columns},
       {"threads-allocator", "one thread frees, another allocates", allocator}},
      to);
  for (const unsigned threads : {2u, 3u})
    for (const level& l : every_level)
      to.push_back({"threads-random-" + std::to_string(threads) + "/" + l.name,
                    std::to_string(threads) + " threads, random transactions",
                    [l, threads](uint64_t seed) { return random(l, threads, seed); }});
  for (const level& l : every_level)
    to.push_back({std::string("threads-collide-2/") + l.name,
                  "two threads, random transactions; column blocks share eight locks",
                  [l](uint64_t seed) { return random(l, 2, seed, 8); }});
}

}  // namespace scute::explore

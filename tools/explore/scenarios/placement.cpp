// SPDX-License-Identifier: BSD-3-Clause
// Transactions on several objects, chosen by where they lie: in one row, in one column, across the
// end of a row, and more of them than a lane's log can hold.
#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"

namespace scute::explore {
namespace {

void commit(scute::pool& p, const std::function<void(change&)>& body) {
  change c(p, 0);
  body(c);
  c.commit();
}

testing::scenario start(const std::string& name, testing::pool_kind protection) {
  testing::scenario s(name, testing::small_pool(protection));
  s.observe([](scute::pool& p) { return contents(p, 0); });
  return s;
}

// Objects of nearly a chunk each. Rows are no multiple of chunks long, so that chunks of different
// rows overlap in columns.
void place_eight(scute::pool& p) {
  make_directories(p);
  for (unsigned k = 0; k < 8; ++k) commit(p, [&](change& c) { c.alloc(k, 15000, k); });
}

testing::scenario column(const level& l) {
  auto s = start(std::string("same-column/") + l.name, l.protection);
  s.setup(place_eight);
  // Ranges at all page offsets meet in columns whatever the exact geometry.
  for (unsigned k = 0; k < 6; ++k)
    s.step("a page of every object, round " + std::to_string(k), [k](scute::pool& p) {
      commit(p, [&](change& c) {
        for (unsigned i = 0; i < 4; ++i)
          c.edit((i + k) % 8, (i * 4096 + 64 * k) % 14000, 24, k + i);
      });
    });
  for (unsigned k = 0; k < 4; ++k)
    s.step("long ranges of two objects, round " + std::to_string(k), [k](scute::pool& p) {
      commit(p, [&](change& c) {
        c.edit(k, 1000, 600, 20 + k);
        c.edit(k + 3, 4000 * k, 600, 30 + k);
      });
    });
  return s;
}

testing::scenario row(const level& l) {
  auto s = start(std::string("same-row/") + l.name, l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, [&](change& c) {
      for (unsigned k = 0; k < 8; ++k) c.alloc(k, 96, k);
    });
  });
  for (unsigned k = 0; k < 6; ++k)
    s.step("neighbours, round " + std::to_string(k), [k](scute::pool& p) {
      commit(p, [&](change& c) {
        for (unsigned i = 0; i < 1 + k; ++i) c.overwrite(i, 10 * k + i);
        if (k % 2 != 0) c.free(7);
        if (k % 2 == 0 && k != 0) c.alloc(7, 96, k);
      });
    });
  return s;
}

// DECODE-2.
testing::scenario wrap(const level& l) {
  auto s = start(std::string("across-rows/") + l.name, l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    // Longer than a row, so it lies in two or three.
    commit(p, [&](change& c) { c.alloc(0, 60000, 1); });
  });
  for (unsigned k = 0; k < 10; ++k)
    s.step("a range at " + std::to_string(6000 * k), [k](scute::pool& p) {
      commit(p, [&](change& c) { c.edit(0, 6000 * k, 600, 10 + k); });
    });
  s.step("ranges all over", [](scute::pool& p) {
    commit(p, [&](change& c) {
      for (unsigned k = 0; k < 10; ++k) c.edit(0, 5900 * k + 17, 40, 30 + k);
    });
  });
  return s;
}

testing::scenario larger_than_log(const level& l) {
  auto s = start(std::string("larger-than-log/") + l.name, l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned k = 0; k < 3; ++k) commit(p, [&](change& c) { c.alloc(k, 4096, k); });
    commit(p, [&](change& c) { c.alloc(3, 12000, 3); });
  });
  s.step("three objects of 4 KiB", [](scute::pool& p) {
    commit(p, [&](change& c) {
      for (unsigned k = 0; k < 3; ++k) c.overwrite(k, 10 + k);
    });
  });
  s.step("a small change",
         [](scute::pool& p) { commit(p, [&](change& c) { c.edit(0, 0, 32, 20); }); });
  s.step("one of 12 KiB",
         [](scute::pool& p) { commit(p, [&](change& c) { c.overwrite(3, 30); }); });
  s.step("all of them", [](scute::pool& p) {
    commit(p, [&](change& c) {
      for (unsigned k = 0; k < 4; ++k) c.overwrite(k, 40 + k);
    });
  });
  s.step("12 KiB in place",
         [](scute::pool& p) { commit(p, [&](change& c) { c.edit_in_place(3, 0, 12000, 50); }); });
  s.step("in place and aborted", [](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(3, 0, 9000, 51);
    c.overwrite(1, 52);
    c.abort();
  });
  s.step("a small change at the end",
         [](scute::pool& p) { commit(p, [&](change& c) { c.edit(1, 100, 32, 60); }); });
  return s;
}

// One lane's log entry against another's: the same bytes written by lanes in turn.
testing::scenario lanes(const level& l) {
  auto s = start(std::string("lanes/") + l.name, l.protection);
  s.lanes_in_turn();
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, [&](change& c) {
      c.alloc(0, 300, 1);
      c.alloc(1, 300, 2);
      c.alloc(2, 5000, 3);
    });
  });
  for (unsigned k = 0; k < 12; ++k)
    s.step("another lane's turn, " + std::to_string(k), [k](scute::pool& p) {
      commit(p, [&](change& c) {
        c.edit(0, 0, 40 + 8 * (k % 3), 10 + k);
        if (k % 4 == 1) c.overwrite(1, 20 + k);
        if (k % 4 == 2) c.edit_in_place(2, 4000, 200, 30 + k);
        if (k % 4 == 3) c.overwrite(2, 40 + k);
      });
    });
  return s;
}

// The chunk of freed objects gets another use while log entries about it are still about.
testing::scenario reuse(const level& l) {
  auto s = start(std::string("chunk-reuse/") + l.name, l.protection);
  s.lanes_in_turn().may_run_full();
  s.setup(make_directories);
  for (unsigned round = 0; round < 3; ++round) {
    s.step("fill with large objects", [round](scute::pool& p) {
      for (unsigned k = 0; k < 10; ++k) {
        change c(p, 0);
        if (c.has(k)) continue;
        c.alloc(k, 15000 + round, k);
        c.commit();
        break;
      }
    });
    for (unsigned k = 0; k < 6; ++k)
      s.step("one more", [k, round](scute::pool& p) {
        commit(p, [&](change& c) { c.alloc(1 + k, round % 2 ? 7000 : 15000, k + round); });
      });
    s.step("free half", [](scute::pool& p) {
      commit(p, [&](change& c) {
        for (unsigned k = 1; k < 7; k += 2)
          if (c.has(k)) c.free(k);
      });
    });
    s.step("small ones in their place", [round](scute::pool& p) {
      commit(p, [&](change& c) {
        for (unsigned k = 1; k < 7; k += 2) c.alloc(k, 300 + 700 * round, 90 + k);
      });
    });
    s.step("free all", [](scute::pool& p) {
      commit(p, [&](change& c) {
        for (unsigned k = 0; k < slots; ++k)
          if (c.has(k)) c.free(k);
      });
    });
  }
  return s;
}

}  // namespace

void add_placement_scenarios(std::vector<entry>& to) {
  add_at_all_levels({{"same-row", "neighbours in one transaction", row},
                     {"same-column", "objects whose columns meet in one transaction", column},
                     {"across-rows", "an object longer than a row", wrap},
                     {"larger-than-log", "transactions that overflow a lane", larger_than_log},
                     {"lanes", "lanes take turns on the same bytes", lanes},
                     {"chunk-reuse", "chunks change their use", reuse}},
                    to);
}

}  // namespace scute::explore

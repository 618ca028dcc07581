// SPDX-License-Identifier: BSD-3-Clause
// Lanes that meet in a column block: what one of them has in its log must not come back over what
// another one wrote there later, and data and parity must stay in step.
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"
#include "scenarios/layout.hpp"

namespace scute::explore {
namespace {

// Each thread overwrites its own object, a neighbour of the others', by lanes in turn. (REDO-5,
// REDO-6)
testing::scenario neighbours(const std::string& name, const level& l, unsigned threads,
                             unsigned steps) {
  auto s = with_directories(name + "/" + l.name, l.protection, threads);
  s.lanes_in_turn();
  s.setup([threads](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < threads; ++t) commit(p, t, [&](change& c) { c.alloc(0, 90, t); });
  });
  for (unsigned t = 0; t < threads; ++t)
    for (unsigned k = 0; k < steps; ++k)
      s.in_thread(t).step("overwrite", [t, k](scute::pool& p) {
        commit(p, t, [&](change& c) { c.overwrite(0, 10 * t + k); });
      });
  return s;
}

testing::scenario two(const level& l) {
  return neighbours("owners-two", l, 2, 4);
}
testing::scenario three(const level& l) {
  return neighbours("owners-three", l, 3, 3);
}

// One thread overwrites an object and then changes it in place, on another lane; a second thread
// overwrites a neighbour, so both find the first one's entry to be invalid at the same time.
testing::scenario in_place(const level& l) {
  auto s = with_directories(std::string("owners-in-place/") + l.name, l.protection, 2);
  s.lanes_in_turn();
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 2; ++t) commit(p, t, [&](change& c) { c.alloc(0, 300, t); });
    commit(p, 0, [](change& c) { c.alloc(1, 9000, 3); });
  });
  s.in_thread(0).step("overwrite, on lane 0",
                      [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(0, 10); }); });
  s.in_thread(0).step("in place, on lane 1", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      // Elsewhere, so that some time goes by.
      for (unsigned k = 0; k < 3; ++k) c.edit_in_place(1, 5000 + 70 * k, 60, 40 + k);
      c.edit_in_place(0, 20, 200, 20);
    });
  });
  for (unsigned k = 0; k < 2; ++k) s.in_thread(1).step("nothing", [](scute::pool&) {});
  s.in_thread(1).step("overwrite the neighbour, on lane 2",
                      [](scute::pool& p) { commit(p, 1, [](change& c) { c.overwrite(0, 30); }); });
  return s;
}

// Two threads change bytes of one column in two rows, through buffers and in place.
testing::scenario column(const level& l) {
  constexpr uint64_t size = 50000, length = 700;
  auto s = with_directories(std::string("owners-column/") + l.name, l.protection, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 2; ++t) commit(p, t, [&](change& c) { c.alloc(0, size, t); });
  });
  for (unsigned t = 0; t < 2; ++t)
    for (unsigned k = 0; k < 3; ++k)
      s.in_thread(t).step("change the shared column", [t, k](scute::pool& p) {
        const uint64_t mine = offset_of(p, t, 0), other = offset_of(p, 1 - t, 0);
        const column_meeting m(p.info().row_size, std::min(mine, other), std::max(mine, other),
                               size, length);
        const uint64_t at = mine < other ? m.in_first : m.in_second;
        commit(p, t, [&](change& c) {
          if ((k + t) % 2 != 0)
            c.edit_in_place(0, at, length, 20 * t + k);
          else
            c.edit(0, at, length, 20 * t + k);
        });
      });
  return s;
}

// A lane's last entry has bytes of a span that another lane frees, and a third one reuses: first
// for a log, which leaves zeros, then for an object of zeros, which is not written where zeros are.
testing::scenario reuse(const level& l) {
  auto s = with_directories(std::string("owners-reuse/") + l.name, l.protection);
  s.lanes_in_turn();
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, 20000, 1);
      c.alloc(1, 12000, 2);
    });
  });
  const auto place = std::make_shared<uint64_t>();
  for (unsigned k = 0; k < 2; ++k) {
    s.step("edit the end of a span", [k, place](scute::pool& p) {
      *place = offset_of(p, 0, 0);
      commit(p, 0, [&](change& c) { c.edit(0, 14000, 500, 30 + k); });
    });
    s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(0); }); });
    s.step("use its chunks for a log, then for zeros", [k, place](scute::pool& p) {
      change large(p, 0);
      large.edit_in_place(1, 0, 12000, 40 + k);
      large.abort();
      commit(p, 0, [](change& c) { c.alloc_zeros(0, 20000); });
      if (offset_of(p, 0, 0) != *place) throw std::runtime_error("other chunks were used");
    });
  }
  return s;
}

}  // namespace

void add_owner_scenarios(std::vector<entry>& to) {
  struct kind {
    const char* name;
    const char* about;
    std::vector<level> at;
    testing::scenario (*make)(const level&);
  };
  const level &none = levels[0], &ml = levels[1], &mlp = levels[2], &mlpc = levels[3],
              &free = levels[4], &two_rows = levels[5];
  for (const kind& k :
       {kind{"owners-two",
             "two threads, neighbours in a block, lanes in turn",
             {ml, mlpc, free},
             two},
        {"owners-three",
         "three threads, neighbours in a block, lanes in turn",
         {ml, mlpc, free},
         three},
        {"owners-in-place",
         "in place under an entry that two lanes invalidate",
         {none, ml, free},
         in_place},
        {"owners-column", "two threads in one column", {mlp, mlpc, free, two_rows}, column},
        {"owners-reuse", "a span's chunks are used again", {none, ml, mlp, mlpc, free}, reuse}})
    for (const level& l : k.at)
      to.push_back({std::string(k.name) + "/" + l.name, k.about,
                    [make = k.make, l](uint64_t) { return make(l); }});
}

}  // namespace scute::explore

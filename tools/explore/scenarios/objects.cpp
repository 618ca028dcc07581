// SPDX-License-Identifier: BSD-3-Clause
// One kind of operation each, on one object, at every protection level.
#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"

namespace scute::explore {
namespace {

testing::scenario start(const std::string& name, testing::pool_kind protection) {
  testing::scenario s(name, testing::small_pool(protection));
  s.observe([](scute::pool& p) { return contents(p, 0); });
  return s;
}

void commit(scute::pool& p, const std::function<void(change&)>& body) {
  change c(p, 0);
  body(c);
  c.commit();
}

// An object of this size in slot 0, and another one after it.
void setup(testing::scenario& s, uint64_t size) {
  s.setup([size](scute::pool& p) {
    make_directories(p);
    commit(p, [&](change& c) {
      c.alloc(0, size, 1);
      c.alloc(1, 200, 2);
    });
  });
}

testing::scenario alloc(const level& l) {
  auto s = start(std::string("alloc/") + l.name, l.protection);
  s.setup([](scute::pool& p) { make_directories(p); });
  unsigned k = 0;
  // Small ones, which format runs; one in several fragments; one that is prewritten; one of several
  // chunks.
  for (const uint64_t size : {1u, 64u, 65u, 900u, 900u, 4096u, 5000u, 17000u, 33000u}) {
    s.step("allocate " + std::to_string(size),
           [size, k](scute::pool& p) { commit(p, [&](change& c) { c.alloc(k, size, k + 1); }); });
    ++k;
  }
  return s;
}

testing::scenario overwrite(const level& l) {
  auto s = start(std::string("overwrite/") + l.name, l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, [&](change& c) {
      c.alloc(0, 64, 1);
      c.alloc(1, 256, 2);
      c.alloc(2, 4096, 3);
    });
  });
  for (unsigned k = 0; k < 9; ++k)
    s.step("overwrite object " + std::to_string(k % 3),
           [k](scute::pool& p) { commit(p, [&](change& c) { c.overwrite(k % 3, 10 + k); }); });
  return s;
}

testing::scenario edit(const level& l) {
  auto s = start(std::string("edit/") + l.name, l.protection);
  setup(s, 9000);
  struct range {
    uint64_t at, length;
  };
  unsigned k = 0;
  // Within a line, across lines, across fragments, the first and the last byte, and all of it.
  for (const range r :
       {range{3, 8}, {60, 8}, {4090, 12}, {0, 1}, {8999, 1}, {100, 700}, {0, 9000}}) {
    s.step("edit " + std::to_string(r.at) + "+" + std::to_string(r.length), [r, k](scute::pool& p) {
      commit(p, [&](change& c) { c.edit(0, r.at, r.length, 20 + k); });
    });
    ++k;
  }
  return s;
}

testing::scenario in_place(const level& l) {
  auto s = start(std::string("in-place/") + l.name, l.protection);
  setup(s, 9000);
  struct range {
    uint64_t at, length;
  };
  unsigned k = 0;
  for (const range r : {range{3, 8}, {60, 8}, {4090, 12}, {100, 700}, {0, 1}}) {
    s.step("store " + std::to_string(r.at) + "+" + std::to_string(r.length) + " in place",
           [r, k](scute::pool& p) {
             commit(p, [&](change& c) { c.edit_in_place(0, r.at, r.length, 30 + k); });
           });
    ++k;
  }
  s.step("two ranges in place, and another object besides", [](scute::pool& p) {
    commit(p, [&](change& c) {
      c.edit_in_place(0, 50, 100, 40);
      c.overwrite(1, 41);
      c.edit_in_place(0, 5000, 64, 42);
      c.edit(0, 7000, 64, 43);
    });
  });
  s.step("in place, aborted", [](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(0, 0, 300, 44);
    c.edit_in_place(0, 4000, 300, 45);
    c.abort();
  });
  s.step("the same again, committed",
         [](scute::pool& p) { commit(p, [&](change& c) { c.edit_in_place(0, 0, 300, 46); }); });
  s.step("a large range in place",
         [](scute::pool& p) { commit(p, [&](change& c) { c.edit_in_place(0, 0, 8000, 47); }); });
  s.step("and a small one",
         [](scute::pool& p) { commit(p, [&](change& c) { c.edit_in_place(0, 0, 8, 48); }); });
  return s;
}

testing::scenario free(const level& l) {
  auto s = start(std::string("free/") + l.name, l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    unsigned k = 0;
    for (const uint64_t size : {100u, 100u, 6000u, 40000u, 100u}) {
      commit(p, [&](change& c) { c.alloc(k, size, k); });
      ++k;
    }
  });
  for (const unsigned k : {1u, 2u, 3u, 0u})
    s.step("free object " + std::to_string(k),
           [k](scute::pool& p) { commit(p, [&](change& c) { c.free(k); }); });
  // Freed space is used again, for objects of other sizes as well.
  for (const unsigned k : {1u, 3u})
    s.step("allocate 30000",
           [k](scute::pool& p) { commit(p, [&](change& c) { c.alloc(k, 30000, 50 + k); }); });
  s.step("free and allocate in one transaction", [](scute::pool& p) {
    commit(p, [&](change& c) {
      c.free(4);
      c.alloc(4, 100, 60);
      c.free(1);
      c.alloc(5, 2000, 61);
    });
  });
  s.step("allocate and free at once", [](scute::pool& p) {
    commit(p, [&](change& c) {
      c.alloc(6, 300, 62);
      c.free(6);
      c.overwrite(4, 63);
    });
  });
  return s;
}

testing::scenario abort(const level& l) {
  auto s = start(std::string("abort/") + l.name, l.protection);
  setup(s, 3000);
  s.step("everything, aborted", [](scute::pool& p) {
    change c(p, 0);
    c.overwrite(0, 70);
    c.alloc(2, 500, 71);
    c.alloc(3, 20000, 72);
    c.free(1);
    c.abort();
  });
  s.step("the same, committed", [](scute::pool& p) {
    commit(p, [&](change& c) {
      c.overwrite(0, 73);
      c.alloc(2, 500, 74);
      c.alloc(3, 20000, 75);
      c.free(1);
    });
  });
  s.step("aborted again", [](scute::pool& p) {
    change c(p, 0);
    c.free(3);
    c.edit(2, 10, 50, 76);
    c.abort();
  });
  s.step("one edit", [](scute::pool& p) { commit(p, [&](change& c) { c.edit(2, 10, 50, 77); }); });
  return s;
}

}  // namespace

void add_object_scenarios(std::vector<entry>& to) {
  add_at_all_levels({{"alloc", "objects of all sizes come into being", alloc},
                     {"overwrite", "whole objects change", overwrite},
                     {"edit", "ranges of an object change", edit},
                     {"in-place", "ranges change in place, under an undo log", in_place},
                     {"free", "objects go, and their space is used again", free},
                     {"abort", "transactions come to nothing", abort}},
                    to);
}

}  // namespace scute::explore

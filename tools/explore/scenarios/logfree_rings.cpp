// SPDX-License-Identifier: BSD-3-Clause
// Log-free commits of one thread: rings over rows and columns, columns taken again, ranges that
// share cache lines, allocations and frees as members, large and prewritten objects, and the log
// path among them.
#include <cstring>
#include <memory>
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

constexpr uint64_t size = 450;  // slots of 512 bytes, 104 to a row

testing::scenario start(const level& kind, const char* name,
                        std::function<void(scute::pool&)> setup) {
  testing::scenario s(std::string(name) + "/" + kind.name, testing::small_pool(kind.protection));
  s.setup([setup = std::move(setup)](scute::pool& p) {
    make_directories(p);
    setup(p);
  });
  s.observe([](scute::pool& p) { return contents(p, 0); });
  return s;
}

void step(testing::scenario& s, const std::string& what, std::function<void(change&)> body) {
  s.step(what, [body = std::move(body)](scute::pool& p) { commit(p, 0, body); });
}

// Throws unless a transaction went through the log, or without one.
void step_through(testing::scenario& s, bool log, const std::string& what,
                  std::function<void(change&)> body) {
  s.step(what, [=, body = std::move(body)](scute::pool& p) {
    const uint64_t before = p.stats().logged;
    commit(p, 0, body);
    if ((p.stats().logged != before) != log)
      throw std::runtime_error(log ? "no log was needed" : "a log was needed");
  });
}

// Six objects: 0, 1 and 2 in one row, 3 and 4 in another one, 5 of another size; no column twice.
testing::scenario rows(const level& kind, uint64_t) {
  auto s = start(kind, "rings-rows", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 3; ++k) c.alloc(k, size, k);
      c.alloc(5, 1700, 5);
    });
    place(p, 0, 3, size, 3, {0, 0, 8 * 512});
    place(p, 0, 4, size, 4, {0, 0, 12 * 512});
  });
  for (unsigned k = 0; k < 8; ++k)
    step_through(s, false, "a ring of " + std::to_string(1 + k % 6), [k](change& c) {
      for (unsigned i = 0; i <= k % 6; ++i)
        if (k % 2 == 0)
          c.overwrite((i + k) % 6, 10 * k + i);
        else
          c.edit((5 * i + k) % 6, 30 * i, 40, 10 * k + i);
    });
  return s;
}

// 0 and 1 lie in the same columns of two rows, 2 next to 0.
testing::scenario columns(const level& kind, uint64_t) {
  auto s = start(kind, "rings-columns", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      c.alloc(0, size, 0);
      c.alloc(2, size, 2);
    });
    place(p, 0, 1, size, 1, {0, 0});
  });
  s.lanes_in_turn();
  const bool one = kind.protection.parity < 2;  // which cannot bring back two cells
  for (unsigned k = 0; k < 3; ++k) {
    step_through(s, one, "two cells of a column", [k](change& c) {
      c.overwrite(0, 10 * k + 1);
      c.overwrite(1, 10 * k + 2);
      if (k == 1) c.edit(2, 40, 60, 3);
    });
    step_through(s, false, "the upper one", [k](change& c) { c.overwrite(0, 10 * k + 4); });
    step_through(s, false, "the lower one and a neighbour", [k](change& c) {
      c.edit(1, 9, 300, 10 * k + 5);
      c.overwrite(2, 10 * k + 6);
    });
    step_through(s, one, "ranges of both", [k](change& c) {
      c.edit(1, 100, 50, 10 * k + 7);
      c.edit(0, 120, 90, 10 * k + 8);
    });
  }
  return s;
}

// WIN-3: what is deferred is taken again: the same object, one that shares its block but no column,
// one that shares a few columns, and one that shares a block of a ring of two.
testing::scenario again(const level& kind, uint64_t) {
  auto s = start(kind, "rings-again", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 4; ++k) c.alloc(k, size, k);
      c.alloc(5, 15000, 5);
    });
    place(p, 0, 4, size, 4, {0, 0});
  });
  for (unsigned k = 0; k < 3; ++k) {
    step(s, "an object", [k](change& c) { c.overwrite(0, 10 * k + 1); });
    step(s, "the same", [k](change& c) { c.overwrite(0, 10 * k + 2); });
    step(s, "its neighbour", [k](change& c) { c.overwrite(1, 10 * k + 3); });
    step(s, "both", [k](change& c) {
      c.edit(1, 0, 64, 10 * k + 4);
      c.edit(0, 0, 64, 10 * k + 5);
    });
    step(s, "a ring with a large object", [k](change& c) {
      c.edit(5, 5000 * k, 900, 10 * k + 6);
      c.overwrite(2, 10 * k + 7);
    });
    step(s, "one in the columns of the first", [k](change& c) { c.overwrite(4, 10 * k + 8); });
    step(s, "the next range of the large one",
         [k](change& c) { c.edit(5, 5000 * k + 900, 300, 10 * k + 9); });
  }
  return s;
}

// Ranges and objects that share cache lines, of data and of parity, and ranges that cross a block.
testing::scenario lines(const level& kind, uint64_t) {
  auto s = start(kind, "rings-lines", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 4; ++k) c.alloc(k, 60, k);  // slots of 96 bytes
      c.alloc(4, 9000, 4);
    });
  });
  for (unsigned k = 0; k < 3; ++k) {
    step_through(s, false, "neighbours in a line", [k](change& c) {
      for (unsigned i = 0; i < 4; ++i) c.overwrite(i, 10 * k + i);
    });
    step_through(s, false, "ranges in a line", [k](change& c) {
      for (unsigned i = 0; i < 6; ++i) c.edit(4, 4000 + 90 * i, 10, 20 * k + i);
      c.edit(3, 8, 8, 20 * k + 7);
      c.edit(3, 40, 8, 20 * k + 8);
    });
    step_through(s, false, "a range across blocks",
                 [k](change& c) { c.edit(4, 3000, 5000, 30 + k); });
  }
  return s;
}

// Allocations and frees in a ring with what names them. Slots that one lane frees another one uses
// again.
testing::scenario members(const level& kind, uint64_t) {
  auto s = start(kind, "rings-members", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 3; ++k) c.alloc(k, size, k);
      c.alloc(3, 5000, 3);
    });
  });
  s.lanes_in_turn();
  for (unsigned k = 0; k < 3; ++k) {
    step(s, "free one, change one", [k](change& c) {
      c.free(k);
      c.overwrite((k + 1) % 3, 10 * k + 1);
    });
    step(s, "allocate in its place", [k](change& c) { c.alloc(k, size, 10 * k + 2); });
    step(s, "free and allocate", [k](change& c) {
      c.free(3);
      c.alloc(4, 4500 + k, 10 * k + 3);
      c.edit(k, 0, 8, 10 * k + 4);
    });
    step(s, "the other way", [k](change& c) {
      c.free(4);
      c.alloc(3, 60 + 4000 * k, 10 * k + 5);
    });
    s.step("allocate and give up", [k](scute::pool& p) {
      change c(p, 0);
      c.alloc(5, size, 10 * k + 6);
      c.overwrite(k, 10 * k + 7);
      c.abort();
    });
  }
  return s;
}

// Spans: headers in one block, payload in others, one of them across the end of a row.
testing::scenario large(const level& kind, uint64_t) {
  auto s = start(kind, "rings-large", [](scute::pool& p) {
    for (unsigned k = 0; k < 3; ++k) commit(p, 0, [k](change& c) { c.alloc(k, 15000, k); });
    commit(p, 0, [](change& c) {
      c.alloc(3, 33000, 3);
      c.alloc(4, size, 4);
    });
  });
  for (unsigned k = 0; k < 4; ++k) {
    step(s, "two fragments and a small one", [k](change& c) {
      c.edit(k % 3, 100, 200, 10 * k + 1);
      c.edit(k % 3, 4096 * (k % 3 + 1) - 50, 100, 10 * k + 2);
      c.overwrite(4, 10 * k + 3);
    });
    step(s, "a fragment of each", [k](change& c) {
      c.edit(0, 4200, 64, 10 * k + 4);
      c.edit(1, 8400, 64, 10 * k + 5);
      c.edit(3, 9000 * k, 700, 10 * k + 6);
    });
  }
  step(s, "a whole one", [](change& c) { c.overwrite(0, 90); });
  return s;
}

// Objects whose payload is in place before their ring is.
testing::scenario prewritten(const level& kind, uint64_t) {
  auto s = start(kind, "rings-prewritten", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 3; ++k) c.alloc(k, size, k);
    });
  });
  s.lanes_in_turn();
  for (unsigned k = 0; k < 2; ++k) {
    step(s, "a large one and a small change", [k](change& c) {
      c.alloc(4, 17000 + 6000 * k, 10 * k + 1);
      c.overwrite(k, 10 * k + 2);
    });
    step(s, "in its columns", [k](change& c) {
      for (unsigned i = 0; i < 3; ++i) c.overwrite(i, 10 * k + i);
    });
    step(s, "free it, another one in its place", [k](change& c) {
      c.free(4);
      c.alloc(5, 20000, 10 * k + 3);
    });
    step(s, "free that, change the rest", [k](change& c) {
      c.free(5);
      c.overwrite(2, 10 * k + 4);
    });
  }
  return s;
}

// In place, in the columns of a window deferred just now, and the other way round; aborts.
// (RESERVE-1, RESERVE-4; notes of ranges are missing in some of the images, INPLACE-2)
testing::scenario in_place(const level& kind, uint64_t) {
  auto s = start(kind, "rings-in-place", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      c.alloc(0, size, 0);
      c.alloc(2, size, 2);
    });
    place(p, 0, 1, size, 1, {0, 0});
  });
  s.lanes_in_turn();
  for (unsigned k = 0; k < 2; ++k) {
    step(s, "an object", [k](change& c) { c.overwrite(0, 10 * k + 1); });
    step(s, "in place in its columns", [k](change& c) { c.edit_in_place(1, 0, 400, 10 * k + 2); });
    step(s, "the first one, in a ring", [k](change& c) {
      c.overwrite(0, 10 * k + 3);
      c.overwrite(2, 10 * k + 4);
    });
    s.step("in place, aborted", [k](scute::pool& p) {
      change c(p, 0);
      c.edit_in_place(1, 100, 200, 10 * k + 5);
      c.edit_in_place(2, 100, 100, 10 * k + 6);
      c.abort();
    });
    step(s, "in place, two cells of a column", [k](change& c) {
      c.edit_in_place(0, 10, 60, 10 * k + 13);
      c.edit_in_place(1, 40, 60, 10 * k + 14);
    });
    step(s, "the object that was given up", [k](change& c) { c.overwrite(1, 10 * k + 7); });
    step(s, "in place, a change next to it, an allocation", [k](change& c) {
      c.edit_in_place(0, 0, 64, 10 * k + 8);
      c.edit(0, 200, 64, 10 * k + 9);
      c.overwrite(2, 10 * k + 10);
      c.alloc(3 + k, 3000, 10 * k + 11);
    });
    step(s, "the same object", [k](change& c) { c.overwrite(0, 10 * k + 12); });
  }
  return s;
}

// A page of another row is lost in the columns of what a transaction writes: were it not back
// before the first store, a crash would leave two unknowns in these columns.
testing::scenario lost_pages(const level& kind, uint64_t) {
  auto s = start(kind, "rings-lost-pages", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      c.alloc(0, size, 0);
      c.alloc(2, size, 2);
    });
    place(p, 0, 1, size, 1, {0, 0});
  });
  for (unsigned k = 0; k < 3; ++k)
    s.step_on_stage("lose a page in the columns of an object, and overwrite that",
                    [k](const testing::stage& at) {
                      at.lose_page(offset_of(at.pool(), 0, k % 2));
                      commit(at.pool(), 0, [k](change& c) {
                        c.overwrite(1 - k % 2, 10 * k + 1);
                        c.overwrite(2, 10 * k + 2);
                      });
                    });
  return s;
}

// The root is named between log-free commits on an object without a name.
testing::scenario root(const level& kind, uint64_t) {
  testing::scenario s(std::string("rings-root/") + kind.name, testing::small_pool(kind.protection));
  static constexpr uint64_t n = 300;
  const auto oid = std::make_shared<scute_oid>(SCUTE_OID_NULL);
  const auto overwrite = [oid](scute::pool& p, unsigned fill) {
    scute_tx* tx = nullptr;
    void* bytes = nullptr;
    scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
    if (*oid == SCUTE_OID_NULL)
      scute::detail::check(scute_tx_alloc(tx, n, 3, oid.get(), &bytes));
    else
      scute::detail::check(scute_tx_open(tx, *oid, &bytes));
    fill_bytes(bytes, n, fill);
    scute::detail::check(scute_tx_commit(tx));
  };
  s.setup([oid, overwrite](scute::pool& p) {
    *oid = SCUTE_OID_NULL;
    overwrite(p, 1);
  });
  s.observe([oid](scute::pool& p) {
    const void* bytes = nullptr;
    scute::detail::check(scute_get_verified(p.native_handle(), *oid, &bytes));
    uint64_t first = 0;
    std::memcpy(&first, bytes, sizeof first);
    scute_oid named = SCUTE_OID_NULL;
    const int e = scute_root(p.native_handle(), 0, 1, &named);
    if (e != SCUTE_E_NOENT) scute::detail::check(e);
    return std::to_string(first) + (e == SCUTE_E_NOENT ? ", no root" : ", a root");
  });
  s.step("overwrite", [overwrite](scute::pool& p) { overwrite(p, 2); });
  s.step("make the root", [](scute::pool& p) {
    scute_oid named = SCUTE_OID_NULL;
    scute::detail::check(scute_root(p.native_handle(), n, 1, &named));
  });
  s.step("overwrite again", [overwrite](scute::pool& p) { overwrite(p, 3); });
  return s;
}

}  // namespace

void add_ring_scenarios(std::vector<entry>& to) {
  add_log_free({{"rings-rows", "transactions over several rows, without a log", rows},
                {"rings-columns", "two cells of a column, by the log and without", columns},
                {"rings-again", "columns that the lane has still open", again},
                {"rings-lines", "ranges and objects that share cache lines", lines},
                {"rings-members", "allocations and frees as members", members},
                {"rings-large", "objects of several fragments", large},
                {"rings-prewritten", "large objects that are prewritten", prewritten},
                {"rings-in-place", "in place, in columns that are deferred", in_place},
                {"rings-lost-pages", "a page is lost in the columns of a ring", lost_pages},
                {"rings-root", "the root anchor, by the log", root}},
               to);
}

}  // namespace scute::explore

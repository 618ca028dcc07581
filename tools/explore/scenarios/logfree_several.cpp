// SPDX-License-Identifier: BSD-3-Clause
// Cases that only several rows of parity allow: two cells of
// a column open to one transaction, two pages of a column lost, damage next to a torn commit.
#include <cstring>
#include <stdexcept>
#include <string>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

using phase = death::phase;
constexpr uint64_t size = 450;

// Objects 0, 1 and 3 in the same columns of three rows, 2 next to 0.
void make_stack(scute::pool& p) {
  make_directories(p);
  commit(p, 0, [](change& c) {
    c.alloc(0, size, fill_of(0, 0));
    c.alloc(2, size, fill_of(2, 0));
  });
  place(p, 0, 1, size, fill_of(1, 0), {0, 0});
  place(p, 0, 3, size, fill_of(3, 0), {0, 0});  // a third row, since 1 has its place
}

testing::scenario start(const level& kind, const char* name) {
  testing::scenario s(std::string(name) + "/" + kind.name, testing::small_pool(kind.protection));
  s.setup(make_stack);
  return s;
}

// Rings over two cells of the same columns, in part and as a whole, and over three, through the
// log. (VERSION-2)
testing::scenario cells(const level& kind, uint64_t) {
  auto s = start(kind, "several-cells");
  s.observe([](scute::pool& p) { return contents(p, 0); });
  const auto step = [&](bool log, const std::string& what, std::function<void(change&)> body) {
    s.step(what, [=](scute::pool& p) {
      const uint64_t before = p.stats().logged;
      commit(p, 0, body);
      if ((p.stats().logged != before) != log)
        throw std::runtime_error(log ? "no log was needed" : "a log was needed");
    });
  };
  for (unsigned k = 0; k < 2; ++k) {
    step(false, "two cells", [k](change& c) { overwrite_all(c, {0, 1}, 4 * k + 1); });
    step(false, "ranges of two, and a neighbour", [k](change& c) {
      c.edit(1, 100, 90, 10 * k + 1);
      c.edit(3, 150, 200, 10 * k + 2);
      c.overwrite(2, 10 * k + 3);
    });
    step(true, "three cells", [k](change& c) { overwrite_all(c, {0, 1, 3}, 4 * k + 2); });
    step(false, "one of them, and a free", [k](change& c) {
      c.overwrite(0, 10 * k + 4);
      if (k == 1) c.free(1);
    });
  }
  return s;
}

// Rings over two cells are cut short, and what the next process meets first is one of them, a
// neighbour, or what lies in the same columns of a third row.
testing::scenario open_cells(const level& kind, uint64_t seed) {
  auto s = start(kind, "several-open");
  s.observe([](scute::pool& p) {
    ring_version(p, 0, {0, 1});
    version_of(p, 0, 2);
    version_of(p, 0, 3);
    return std::string();
  });
  const auto ring = [](change& c, unsigned v) { overwrite_all(c, {0, 1}, v); };
  for (unsigned k = 0; k < 4; ++k)
    cut_short(s, "another thread writes", dice_of(seed, k), phase::any, 2 * k + 2, ring,
              [k](scute::pool& p) {
                if (k == 0) resolve(p);
                if (k == 1) commit_ring(p, 0, {3}, 2 * k + 3);
                if (k == 2) commit_ring(p, 0, {2}, 2 * k + 3);
                if (k == 3) commit_ring(p, 0, {0, 1}, 2 * k + 3);
              });
  return s;
}

// The same with a third object damaged whose columns they are: with one cell of the ring in each of
// these columns, the second row of parity is enough for both.
testing::scenario damaged(const level& kind, uint64_t seed) {
  auto s = start(kind, "several-damage");
  s.observe([](scute::pool& p) {
    ring_version(p, 0, {0, 2});
    version_of(p, 0, 1);
    version_of(p, 0, 3);
    return std::string();
  });
  for (unsigned k = 0; k < 3; ++k)
    s.step_on_stage("a ring is cut short, and a cell of its columns is damaged",
                    [=](const testing::stage& at) {
                      const auto change_both = [k](change& c) { overwrite_all(c, {0, 2}, k + 1); };
                      if (at.pool().info().unresolved != 0) resolve(at.pool());
                      const death d(at);
                      commit(at.pool(), 0, change_both);
                      d.die(static_cast<phase>((k + seed) % 4), dice_of(seed, k));
                      const uint64_t where = offset_of(at.pool(), 0, 1);
                      scribble(at, where + 40 + 7 * k, 60, k);
                      version_of(at.pool(), 0, 1);
                      resolve(at.pool());
                    });
  return s;
}

// Two pages of a column are lost, data or parity, and their column is written.
testing::scenario lost_pages(const level& kind, uint64_t) {
  auto s = start(kind, "several-lost-pages");
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 6; ++k)
    s.step_on_stage(
        "lose two pages of a column, and overwrite a third one", [k](const testing::stage& at) {
          scute::pool& p = at.pool();
          const layout where(at);
          const uint64_t inside = (offset_of(p, 0, 0) - where.zone) % where.row_size;
          const uint64_t first = k % 2 == 0 ? offset_of(p, 0, 0) : where.parity(k / 3) + inside;
          const uint64_t second =
              k % 3 == 0 ? offset_of(p, 0, 1) : where.parity(1 - k / 3) + inside;
          at.lose_page(first);
          at.lose_page(second);
          commit(p, 0, [k](change& c) {
            c.overwrite(3, 10 * k + 1);
            c.overwrite(2, 10 * k + 2);
          });
        });
  return s;
}

// Two cells of a column are injured, and repaired by a thread that opens one of them, or by a
// scrub; crashes cut the repairs short.
testing::scenario injuries(const level& kind, uint64_t) {
  auto s = start(kind, "several-injuries");
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 4; ++k) {
    s.step_on_stage("injure two cells of a column", [k](const testing::stage& at) {
      scribble(at, offset_of(at.pool(), 0, 0) + 10 * k, 100, k);
      if (k % 2 == 0) {
        scribble(at, offset_of(at.pool(), 0, 1) + 50, 130, k + 1);
      } else {
        const layout where(at);
        const uint64_t inside = (offset_of(at.pool(), 0, 0) - where.zone) % where.row_size;
        scribble(at, where.parity(k / 2) + inside + 20, 200, k + 1);
      }
    });
    s.step("open one, and change the third", [k](scute::pool& p) {
      commit(p, 0, [k](change& c) {
        c.edit(k == 2 ? 1 : 0, 200, 20, k);
        // Parity that is still damaged leaves one cell of a column to be open.
        if (k % 2 == 0) c.overwrite(3, 10 * k + 5);
      });
    });
    s.step("scrub", [](scute::pool& p) {
      scute_report report{};
      report.struct_size = sizeof report;
      scute::detail::check(scute_scrub(p.native_handle(), nullptr, &report));
    });
  }
  return s;
}

}  // namespace

void add_several_scenarios(std::vector<entry>& to) {
  for (const log_free& k :
       {log_free{"several-cells", "two cells of a column without a log, three with one", cells},
        {"several-open", "a ring with two cells of a column is cut short", open_cells},
        {"several-damage", "damage next to a ring that is cut short", damaged},
        {"several-lost-pages", "two pages of a column are lost", lost_pages},
        {"several-injuries", "two cells of a column are injured, and repaired", injuries}})
    to.push_back({std::string(k.name) + "/logfree2", k.about,
                  [make = k.make](uint64_t seed) { return make(levels[5], seed); }});
}

}  // namespace scute::explore

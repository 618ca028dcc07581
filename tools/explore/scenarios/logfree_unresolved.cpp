// SPDX-License-Identifier: BSD-3-Clause
// Instant recovery: after a death in the middle of a log-free
// commit the pool is used before its traces are resolved, and then the power fails again. Steps
// both make and undo a ring, so what is observed of a ring is that it is of one version.
#include <memory>
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/logfree_scene.hpp"

namespace scute::explore {
namespace {

using phase = death::phase;

std::string observe(scute::pool& p) {
  ring_version(p, 0, {0, 1, 2});
  ring_version(p, 0, {3, 4});
  version_of(p, 0, 5);
  return contents(p, 1);
}

testing::scenario start(const level& kind, const std::string& name) {
  testing::scenario s(name + "/" + kind.name, testing::small_pool(kind.protection));
  s.setup(make_scene).observe(observe);
  return s;
}

// ---- writers ------------------------------------------------------------------------------------

testing::scenario bystanders(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-columns");
  for (unsigned k = 0; k < 3; ++k) {
    cut_short(
        s, "others write in its columns", dice_of(seed, k), phase::any, 2 * k + 2,
        [](change& c, unsigned v) { overwrite_all(c, {0, 1, 2}, v); },
        [k](scute::pool& p) {
          commit(p, 1, [k](change& c) {
            c.overwrite(k % 3, 10 + k);
            if (k == 2) c.overwrite(1, 20);
          });
        });
    s.step("another bystander", [k](scute::pool& p) {
      commit(p, 1, [k](change& c) { c.edit((k + 1) % 3, 100, 60, 30 + k); });
    });
  }
  s.step("resolve the rest", resolve);
  return s;
}

testing::scenario members(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-members");
  s.lanes_in_turn();
  for (unsigned k = 0; k < 3; ++k) {
    cut_short(
        s, "one of it is written alone", dice_of(seed, k), phase::any, 3 * k + 2,
        [](change& c, unsigned v) { overwrite_all(c, {0, 5, 1, 2}, v); },
        [k](scute::pool& p) {
          commit(p, 0, [k](change& c) { c.overwrite(5, fill_of(5, 50 + k)); });
        });
    s.step("all of it are written",
           [k](scute::pool& p) { commit_ring(p, 0, {2, 1, 0}, 3 * k + 3); });
    if (k == 1) s.step("resolve the rest", resolve);
  }
  return s;
}

// Two epochs, and then three, are unresolved.
testing::scenario epochs(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-epochs");
  s.step_on_stage("three deaths, then one write", [seed](const testing::stage& at) {
    for (unsigned k = 0; k < 3; ++k) {
      const auto ring = [&](unsigned v) {
        commit(at.pool(), 0, [&](change& c) {
          if (k == 1)
            overwrite_all(c, {3, 4}, v);
          else
            overwrite_all(c, {0, 1, 2}, v);
        });
      };
      if (k != 0) ring(2 * k + 1);
      const death d(at);
      ring(2 * k + 2);
      d.die(phase::any, dice_of(seed, k));
    }
    commit(at.pool(), 1, [](change& c) { c.overwrite(2, 10); });
  });
  cut_short(
      s, "a bystander is written", dice_of(seed, 7), phase::any, 8,
      [](change& c, unsigned v) { overwrite_all(c, {4, 3}, v); },
      [](scute::pool& p) { commit(p, 1, [](change& c) { c.overwrite(0, 11); }); });
  s.step_on_stage("close in between, and open", [](const testing::stage& at) {
    at.close();
    at.open();
  });
  s.step("a member alone, and a ring", [](scute::pool& p) {
    commit(p, 0, [](change& c) { c.overwrite(5, fill_of(5, 8)); });
    commit_ring(p, 0, {0, 1, 2}, 9);
  });
  s.step("resolve the rest", resolve);
  return s;
}

// Further changes depend on the bytes read.
testing::scenario reads(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-reads");
  for (unsigned k = 0; k < 3; ++k)
    s.step_on_stage("a ring is cut short; then one of it is copied", [=](const testing::stage& at) {
      if (k != 0) commit_ring(at.pool(), 0, {0, 1, 2}, 2 * k);
      const death d(at);
      commit_ring(at.pool(), 0, {0, 1, 2}, 2 * k + 1);
      d.die(phase::any, dice_of(seed, k));
      scute::pool& p = at.pool();
      const unsigned v = version_of(p, 0, k);
      commit(p, 0, [&](change& c) { c.overwrite(5, fill_of(5, v)); });
      if (ring_version(p, 0, {0, 1, 2, 5}) != v) throw std::runtime_error("a read was taken back");
    });
  return s;
}

// The work of resolution itself is cut short.
testing::scenario resolving(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-scan");
  for (unsigned k = 0; k < 3; ++k) {
    cut_short(
        s, "the scan comes to it", dice_of(seed, k), k == 0 ? phase::torn : phase::any, 2 * k + 2,
        [](change& c, unsigned v) { overwrite_all(c, {0, 1, 2}, v); }, resolve);
    s.step("a bystander",
           [k](scute::pool& p) { commit(p, 1, [k](change& c) { c.overwrite(k, 10 + k); }); });
  }
  return s;
}

// The log path in the columns of the interrupted commit: in place, aborted, two cells of one
// column.
testing::scenario through_the_log(const level& kind, uint64_t seed) {
  auto s = start(kind, "unresolved-log");
  for (unsigned k = 0; k < 4; ++k)
    cut_short(
        s, "the log is used", dice_of(seed, k), phase::any, 2 * k + 2,
        [](change& c, unsigned v) { overwrite_all(c, {0, 1, 2}, v); },
        [k](scute::pool& p) {
          change c(p, k == 3 ? 0 : 1);
          switch (k) {
            case 0: c.edit_in_place(0, 50, 300, 10); break;
            case 1: c.edit_in_place(1, 20, 200, 11); return c.abort();
            case 2:
              c.edit_in_place(2, 0, 100, 12);
              c.overwrite(0, 13);
              break;
            default: overwrite_all(c, {0, 1, 2}, 60); c.alloc(7, 9000, 14);
          }
          c.commit();
        });
  s.step("resolve the rest", resolve);
  return s;
}

// Objects of several fragments and of all sizes, one of them across the end of a row.
testing::scenario sizes(const level& kind, uint64_t seed) {
  testing::scenario s(std::string("unresolved-sizes/") + kind.name,
                      testing::small_pool(kind.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) { c.alloc(0, 15000, fill_of(0, 0)); });
    commit(p, 0, [](change& c) {
      c.alloc(1, 60, fill_of(1, 0));
      c.alloc(2, 1700, fill_of(2, 0));
    });
    commit(p, 1, [](change& c) { c.alloc(0, 15000, 1); });
    commit(p, 1, [](change& c) {
      c.alloc(1, 300, 2);
      c.alloc(2, 6000, 3);
    });
    commit(p, 0, [](change& c) { c.alloc(3, 5000, fill_of(3, 0)); });
  });
  s.observe([](scute::pool& p) {
    ring_version(p, 0, {0, 1, 2});
    version_of(p, 0, 3);
    return contents(p, 1);
  });
  for (unsigned k = 0; k < 3; ++k)
    cut_short(
        s, "others are written", dice_of(seed, k), phase::any, 2 * k + 2,
        [](change& c, unsigned v) { overwrite_all(c, {0, 1, 2}, v); },
        [k](scute::pool& p) {
          commit(p, 1,
                 [k](change& c) { c.edit(k == 1 ? 0 : 2, 100 + 4000 * (k % 2), 700, 10 + k); });
          commit(p, 0, [k](change& c) { c.overwrite(3, fill_of(3, k + 1)); });
        });
  s.step("resolve the rest", resolve);
  return s;
}

// ---- at the moment of reading -------------------------------------------------------------------

// After any crash a thread that reads an unresolved pool writes first: one of each ring alone, and
// a bystander in its columns.
testing::scenario at_once(const level& kind, uint64_t) {
  auto s = start(kind, "unresolved-at-once");
  s.lanes_in_turn();
  s.observe([](scute::pool& p) {
    if (p.info().unresolved != 0) {
      commit(p, 0, [](change& c) { c.overwrite(5, fill_of(5, 90)); });
      commit(p, 2, [](change& c) { c.overwrite(0, 91); });
    }
    return std::to_string(ring_version(p, 0, {0, 1, 2})) + ", " +
           std::to_string(ring_version(p, 0, {3, 4})) + "; " + contents(p, 1);
  });
  s.setup([](scute::pool& p) {
    make_scene(p);
    commit(p, 2, [](change& c) { c.alloc(0, ring_size, 1); });
  });
  for (unsigned k = 0; k < 3; ++k) {
    s.step("a ring", [k](scute::pool& p) {
      commit(p, 0, [k](change& c) { overwrite_all(c, {0, 5, 1, 2}, k + 1); });
    });
    s.step("another ring", [k](scute::pool& p) { commit_ring(p, 0, {3, 5, 4}, k + 1); });
    s.step("a bystander",
           [k](scute::pool& p) { commit(p, 1, [k](change& c) { c.overwrite(k, k + 10); }); });
  }
  return s;
}

// ---- two rows -----------------------------------------------------------------------------------

// FRAG-2. Two objects of one size in the same columns of two rows. One is new, with its parity
// still old, and its ring must decide; if checksums were linear, the other one, which an earlier
// transaction wrote, would decode to something valid, and be finished (its ring is complete) or
// rolled back (a peer was written since, so its ring looks broken). In both orders of the rows.
testing::scenario twins(const level& kind, uint64_t) {
  testing::scenario s(std::string("twins/") + kind.name, testing::small_pool(kind.protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 4; ++k) c.alloc(k, ring_size, fill_of(k, 0));
    });
    place(p, 0, 4, ring_size, fill_of(4, 0), {0, 0});
    place(p, 0, 5, ring_size, fill_of(5, 0), {0, 1});
  });
  s.observe([](scute::pool& p) { return contents(p, 0); });
  // 4 lies under 0, 5 under 1.
  for (unsigned k = 0; k < 2; ++k) {
    const uint64_t mine = k == 0 ? 0 : 4, twin = k == 0 ? 4 : 0;
    s.step("one twin alone", [=](scute::pool& p) { commit_ring(p, 0, {mine}, 4 * k + 1); });
    s.step("the other one in a ring",
           [=](scute::pool& p) { commit_ring(p, 0, {twin, 2}, 4 * k + 2); });
    s.step("one twin in a ring", [=](scute::pool& p) { commit_ring(p, 0, {mine, 3}, 4 * k + 3); });
    s.step("its peer alone", [=](scute::pool& p) { commit_ring(p, 0, {3}, 4 * k + 4); });
    s.step("the other one alone", [=](scute::pool& p) { commit_ring(p, 0, {twin}, 4 * k + 4); });
  }
  return s;
}

}  // namespace

void add_unresolved_scenarios(std::vector<entry>& to) {
  add_log_free(
      {{"unresolved-columns", "others write in the columns of a ring cut short", bystanders},
       {"unresolved-members", "members of a ring cut short are written alone", members},
       {"unresolved-epochs", "several deaths before anything is resolved", epochs},
       {"unresolved-reads", "what is read of a ring cut short is built upon", reads},
       {"unresolved-scan", "resolution is cut short as well", resolving},
       {"unresolved-log", "the log path in the columns of a ring cut short", through_the_log},
       {"unresolved-sizes", "objects of many sizes and several fragments", sizes},
       {"unresolved-at-once", "every reader of an unresolved pool writes first", at_once},
       {"twins", "one size, the same columns, two rows", twins}},
      to);
}

}  // namespace scute::explore

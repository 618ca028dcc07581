// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: checkpoints between and within transactions, a log that is turned over, ranges in
// place whose bytes the log has, and has not.
#include <functional>
#include <memory>
#include <vector>

#include "scenarios/spec_scene.hpp"

namespace scute::explore {
namespace {

// Each state of a block: in the log alone, half written back, checkpointed, changed again.
// Recoveries are cut short as well (REPLAY-2, SPEC-11).
testing::scenario checkpoints(const level& l) {
  auto s = spec_scene("spec-checkpoints", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 6; ++k) {
    s.step("overwrite object " + std::to_string(k % 3),
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(k % 3, 10 + k); }); });
    if (k % 2 == 1) checkpoint(s);
  }
  s.step("all three", [](scute::pool& p) {
    commit(p, 0, [&](change& c) {
      for (unsigned i = 0; i < 3; ++i) c.overwrite(i, 30 + i);
    });
  });
  checkpoint(s);
  checkpoint(s);
  return s;
}

// Segments of a page hold one such frame each, so the log is used again and again (SPEC-8, CLOG-2,
// SPEC-10).
testing::scenario turns(const level& l) {
  auto s = spec_scene("spec-turns", l, 1);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 16; ++k)
    s.step("overwrite the largest",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(2, 10 + k); }); });
  return s;
}

// The first range in place logs what it held; the second one does not, until a checkpoint has gone
// by.
testing::scenario in_place(const level& l) {
  auto s = spec_scene("spec-in-place", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  unsigned k = 0;
  const auto edit = [&](bool ends_well) {
    ++k;
    s.step(ends_well ? "in place" : "in place, aborted", [k, ends_well](scute::pool& p) {
      change c(p, 0);
      c.edit_in_place(1, 33, 70, 10 + k);
      c.edit_in_place(2, 1000, 8, 20 + k);
      if (ends_well)
        c.commit();
      else
        c.abort();
    });
  };
  edit(true);
  edit(true);
  edit(false);
  edit(true);
  checkpoint(s);
  edit(false);
  edit(true);
  checkpoint(s);
  checkpoint(s);
  edit(true);
  return s;
}

// Several ranges of one granule, and of granules side by side, with a buffer of the same object.
testing::scenario granules(const level& l) {
  auto s = spec_scene("spec-granules", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 4; ++k) {
    s.step("five ranges, a buffer between", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.edit_in_place(1, 1, 3, 10 + k);
        c.edit_in_place(1, 8, 8, 20 + k);
        c.edit_in_place(1, 30, 4, 30 + k);
        c.edit_in_place(1, 40, 1, 40 + k);
        c.edit_in_place(1, 440, 10, 50 + k);
        c.overwrite(0, 60 + k);
      });
    });
    if (k == 1) checkpoint(s);
  }
  return s;
}

// The log lies in chunks of the pool: lent, taken back, and lent again (SPEC-5: the truncation
// point does not fall; LIST-1).
testing::scenario switches(const level& l) {
  auto s = spec_scene("spec-switches", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  const bool several = l.protection.parity > 1;
  const auto edit = [&](unsigned k) {
    s.step("overwrite, in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.overwrite(k % 2, 10 + k);
        c.edit_in_place(2, 100 * k, 300, 20 + k);
      });
    });
  };
  const auto to = [&](scute_engine e) {
    s.step("switch", [e](scute::pool& p) { testing::set_engine(p, e); });
  };
  // The old log goes before there is another one.
  s.step("a log of another size",
         [](scute::pool& p) { testing::set_engine(p, SCUTE_ENGINE_SPEC, 1); });
  edit(0);
  to(several ? SCUTE_ENGINE_LOGFREE : SCUTE_ENGINE_REDO);
  edit(1);
  to(SCUTE_ENGINE_SPEC);
  edit(2);
  if (l.protection.protection == SCUTE_PROTECT_MLPC) {
    to(SCUTE_ENGINE_LOGFREE);
    edit(3);
    to(SCUTE_ENGINE_SPEC);
    edit(4);
  }
  return s;
}

// A range stays open while another thread commits next to it and checkpoints: its old bytes must
// come back.
testing::scenario open_checkpoint(const level& l, uint64_t) {
  auto s = spec_scene("spec-open-checkpoint", l, 2);
  for (unsigned t = 0; t < 2; ++t)
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
  for (unsigned k = 0; k < 2; ++k) {
    s.in_thread(0).step("in place, aborted", [k](scute::pool& p) {
      change c(p, 0);
      c.edit_in_place(1, 100, 300, 10 + k);
      c.edit_in_place(2, 0, 3000, 10 + k);
      c.abort();
    });
    s.in_thread(0).step("in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.edit_in_place(1, 100, 300, 20 + k);
        c.edit_in_place(0, 0, 64, 20 + k);
      });
    });
    s.in_thread(1).step("overwrite", [k](scute::pool& p) {
      commit(p, 1, [&](change& c) { c.overwrite(1, 30 + k); });
    });
    s.in_thread(1).step("checkpoint", [](scute::pool& p) { p.drain(); });
  }
  return s;
}

// Commits of ranges in place, again and again, while another thread does nothing but checkpoint
// (SPEC-6, SPEC-7).
testing::scenario commit_checkpoint(const level& l, uint64_t) {
  auto s = spec_scene("spec-commit-checkpoint", l, 2);
  for (unsigned t = 0; t < 2; ++t)
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
  for (unsigned k = 0; k < 6; ++k) {
    s.in_thread(0).step("in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.edit_in_place(0, 0, 40, 20 + k); });
    });
    s.in_thread(1).step("checkpoint", [](scute::pool& p) { p.drain(); });
  }
  return s;
}

// Threads whose objects lie in the same column blocks, each with a log of its own (TABLE-1,
// CKPT-1).
testing::scenario neighbours(const level& l, uint64_t) {
  auto s = spec_scene("spec-neighbours", l, 2);
  for (unsigned t = 0; t < 2; ++t) {
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
    for (unsigned k = 0; k < 3; ++k)
      s.in_thread(t).step("overwrite", [t, k](scute::pool& p) {
        commit(p, t, [&](change& c) {
          c.overwrite(0, 10 * t + k);
          c.overwrite(1, 10 * t + k);
        });
      });
    s.in_thread(t).step("checkpoint", [](scute::pool& p) { p.drain(); });
  }
  return s;
}

// More than a segment holds.
testing::scenario parts(const level& l) {
  auto s = spec_scene("spec-parts", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  s.step("allocate 9000",
         [](scute::pool& p) { commit(p, 0, [](change& c) { c.alloc(3, 9000, 4); }); });
  for (unsigned k = 0; k < 3; ++k)
    s.step("overwrite 9000 and the others", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.overwrite(3, 10 + k);
        c.overwrite(0, 10 + k);
      });
    });
  checkpoint(s);
  s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(3); }); });
  return s;
}

// A placed object is not logged; and one that takes its place later is.
template <log_in where>
testing::scenario placed(const level& l) {
  auto s = spec_scene(where == log_in::file ? "log-file-placed" : "spec-placed", l);
  if (where == log_in::file) s.with_log_file();
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 2; ++k) {
    s.step("allocate 17000",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.alloc(3, 17000, 10 + k); }); });
    s.step("edit it",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.edit(3, 4000, 300, 20 + k); }); });
    s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(3); }); });
  }
  s.step("allocate small ones there", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (uint64_t i = 3; i < 8; ++i) c.alloc(i, 700, 30 + static_cast<unsigned>(i));
    });
  });
  return s;
}

// Freed chunks are lent to the log while the log has records of them (SPEC-12).
testing::scenario lent(const level& l) {
  auto s = spec_scene("spec-lent", l, 1, 32768);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  s.step("allocate 60000",
         [](scute::pool& p) { commit(p, 0, [](change& c) { c.alloc(3, 60000, 4); }); });
  for (unsigned k = 0; k < 2; ++k) {
    s.step("allocate 17000",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.alloc(4, 17000, 10 + k); }); });
    s.step("edit it",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.edit(4, 100, 3000, 20 + k); }); });
    s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(4); }); });
    s.step("overwrite 60000",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(3, 30 + k); }); });
  }
  return s;
}

// A checkpoint comes between the first touch of a range, which logs what it held, and the range
// (TABLE-2).
testing::scenario first_touch(const level& l, uint64_t) {
  auto s = spec_scene("spec-first-touch", l, 2);
  s.in_thread(0).observe([](scute::pool& p) { return contents(p, 0); });
  s.step("checkpoint all", [](scute::pool& p) { p.drain(); });
  s.in_thread(0).step("in place, aborted", [](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(1, 100, 300, 10);
    c.abort();
  });
  s.in_thread(1).step("checkpoint", [](scute::pool& p) { p.drain(); });
  return s;
}

// Checkpoints whose truncation point stays below the records that another thread commits meanwhile,
// in a log that is turned over (CLOG-1).
testing::scenario overtaken(const level& l, uint64_t) {
  auto s = spec_scene("spec-overtaken", l, 2);
  for (unsigned t = 0; t < 2; ++t)
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
  for (unsigned k = 0; k < 3; ++k) {
    s.in_thread(0).step("overwrite", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.overwrite(0, 10 + k); });
    });
    s.in_thread(0).step("checkpoint", [](scute::pool& p) { p.drain(); });
  }
  for (unsigned k = 0; k < 6; ++k)
    s.in_thread(1).step("overwrite the largest", [k](scute::pool& p) {
      commit(p, 1, [&](change& c) { c.overwrite(2, 10 + k); });
    });
  return s;
}

// Three lanes: ranges in place that end well and do not, checkpoints, and a log that is turned over
// (SPEC-5 to SPEC-8).
testing::scenario crowd(const level& l, uint64_t) {
  auto s = spec_scene("spec-crowd", l, 3);
  for (unsigned t = 0; t < 2; ++t)
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
  s.in_thread(0).step("in place, aborted", [](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(2, 100, 2000, 11);
    c.abort();
  });
  for (unsigned k = 0; k < 2; ++k) {
    s.in_thread(0).step("in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.edit_in_place(1, 10 * k, 300, 12 + k); });
    });
    s.in_thread(1).step("overwrite two", [k](scute::pool& p) {
      commit(p, 1, [&](change& c) {
        c.overwrite(0, 21 + k);
        c.overwrite(2, 31 + k);
      });
    });
    s.in_thread(2).step("checkpoint", [](scute::pool& p) { p.drain(); });
  }
  s.in_thread(2).step("look at an object, and commit nothing", [](scute::pool& p) {
    change c(p, 1);
    c.abort();
  });
  return s;
}

}  // namespace

void add_spec_scenarios(std::vector<entry>& to) {
  const std::initializer_list<level> at = {spec_levels[0], spec_levels[1], spec_levels[2],
                                           spec_levels[3], spec_levels[4], spec_levels[5]};
  add_at(at,
         {{"spec-checkpoints", "engine spec: blocks are checkpointed between commits", checkpoints},
          {"spec-turns", "engine spec: the log is turned over", turns},
          {"spec-in-place", "engine spec: ranges that the log knows, and does not know", in_place},
          {"spec-granules", "engine spec: ranges that share granules", granules},
          {"spec-parts", "engine spec: transactions of several frames", parts},
          {"spec-placed", "engine spec: large objects, and what comes after them",
           placed<log_in::pool>},
          {"log-file-placed", "engine spec, a log file: large objects, and what comes after them",
           placed<log_in::file>},
          {"spec-switches", "engine spec: the pool gets other engines, and spec again", switches}},
         to);
  // Of two parities there is too little room in so small a pool.
  add_at({spec_levels[0], spec_levels[1]},
         {{"spec-lent", "engine spec: a log that grows where objects were", lent}}, to);
  for (const level& l : at) {
    to.push_back({std::string("spec-open-checkpoint/") + l.name,
                  "engine spec: ranges that are open while others checkpoint",
                  [l](uint64_t seed) { return open_checkpoint(l, seed); }});
    to.push_back({std::string("spec-commit-checkpoint/") + l.name,
                  "engine spec: commits of ranges in place while others checkpoint",
                  [l](uint64_t seed) { return commit_checkpoint(l, seed); }});
    to.push_back({std::string("spec-first-touch/") + l.name,
                  "engine spec: a checkpoint concurrent with the first touch of a range",
                  [l](uint64_t seed) { return first_touch(l, seed); }});
    to.push_back({std::string("spec-overtaken/") + l.name,
                  "engine spec: commits overtake the checkpoints of another thread",
                  [l](uint64_t seed) { return overtaken(l, seed); }});
    to.push_back({std::string("spec-crowd/") + l.name,
                  "engine spec: three lanes, checkpoints, and a log that is turned over",
                  [l](uint64_t seed) { return crowd(l, seed); }});
    to.push_back({std::string("spec-neighbours/") + l.name,
                  "engine spec: lanes that meet in column blocks",
                  [l](uint64_t seed) { return neighbours(l, seed); }});
  }
}

}  // namespace scute::explore

// SPDX-License-Identifier: BSD-3-Clause
// Engine spec with its log in a file of its own: two files, each durable by its own syncs;
// openings, closings and switches of engines, which make and remove the file.
#include <vector>

#include "scenarios/spec_scene.hpp"

namespace scute::explore {
namespace {

scute_options options(const level& l, scute_engine engine) {
  scute_options o = spec_options(l);
  o.engine = engine;
  return o;
}

testing::scenario start(const std::string& name, const level& l,
                        scute_engine engine = SCUTE_ENGINE_SPEC) {
  testing::scenario s = spec_scene(name + "/" + l.name, options(l, engine));
  s.with_log_file();
  return s;
}

void overwrite(testing::scenario& s, unsigned i, unsigned version) {
  s.step("overwrite object " + std::to_string(i),
         [=](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(i, version); }); });
}
void reopen(testing::scenario& s) {
  s.step_on_stage("close", [](const testing::stage& at) { at.close(); });
  s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
}

// LOGFILE-4, LOGFILE-5
testing::scenario checkpoints(const level& l) {
  auto s = start("log-file-checkpoints", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 5; ++k) {
    overwrite(s, k % 3, 10 + k);
    if (k % 2 == 1) checkpoint(s);
  }
  return s;
}

// LOGFILE-1, LOGFILE-3
testing::scenario create(const level& l) {
  testing::scenario s(std::string("log-file-create/") + l.name, options(l, SCUTE_ENGINE_SPEC));
  s.with_log_file().without_pool();
  s.step_on_stage("create", [](const testing::stage& at) { at.create(); });
  s.step("make the root", [](scute::pool& p) {
    scute_oid root = SCUTE_OID_NULL;
    scute::detail::check(scute_root(p.native_handle(), 500, 1, &root));
  });
  reopen(s);
  s.observe([](scute::pool& p) {
    scute_oid root = SCUTE_OID_NULL;
    const int e = scute_root(p.native_handle(), 0, 1, &root);
    if (e == SCUTE_E_NOENT) return std::string("no root");
    scute::detail::check(e);
    return std::string("a root");
  });
  return s;
}

testing::scenario sessions(const level& l) {
  auto s = start("log-file-sessions", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  overwrite(s, 0, 10);
  reopen(s);
  overwrite(s, 1, 11);
  s.step_on_stage("be killed", [](const testing::stage& at) { at.abandon(); });
  s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  overwrite(s, 2, 12);
  return s;
}

// Nothing but openings of a pool that is killed each time: each of them, and the power with it,
// fails at any moment (LOGFILE-3).
testing::scenario killed(const level& l) {
  auto s = start("log-file-killed", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 3; ++k) {
    s.step_on_stage("be killed", [](const testing::stage& at) { at.abandon(); });
    s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  }
  return s;
}

// LOGFILE-1, LOGFILE-2: logs come, go, and are left over.
testing::scenario switches(const level& l) {
  auto s = start("log-file-switches", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  const auto to = [&](scute_engine e, const char* name) {
    s.step(std::string("switch to ") + name, [e](scute::pool& p) { testing::set_engine(p, e); });
  };
  overwrite(s, 0, 10);
  if (l.protection.parity > 1)
    to(SCUTE_ENGINE_LOGFREE, "logfree");
  else
    to(SCUTE_ENGINE_REDO, "redo");
  overwrite(s, 1, 11);
  to(SCUTE_ENGINE_SPEC, "spec");
  overwrite(s, 2, 12);
  return s;
}

// GOAL-1, GOAL-3: a pool was killed, and its log, of which nothing was needed, is gone. The opening
// without it is cut short, and repeated.
testing::scenario lost(const level& l) {
  scute_options o = options(l, SCUTE_ENGINE_SPEC);
  o.flags |= SCUTE_WITHOUT_LOG;
  auto s = spec_scene(std::string("log-file-lost/") + l.name, o);
  s.with_log_file();
  s.observe([](scute::pool& p) {
    return contents(p, 0) + (p.info().engine == SCUTE_ENGINE_SPEC ? " spec" : " another engine");
  });
  overwrite(s, 0, 10);
  checkpoint(s);
  s.step_on_stage("be killed", [](const testing::stage& at) { at.abandon(); });
  s.step_on_stage("lose the log", [=](const testing::stage& at) {
    at.damage(o.size, std::vector<std::byte>(8192));
  });
  s.step_on_stage("open without it", [](const testing::stage& at) { at.open(); });
  overwrite(s, 1, 11);
  return s;
}

// The same pool gets a log of another size: the old one goes first (GOAL-1).
testing::scenario resized(const level& l) {
  auto s = start("log-file-resized", l);
  s.observe([](scute::pool& p) {
    return contents(p, 0) + (p.info().engine == SCUTE_ENGINE_SPEC ? " spec" : " another engine");
  });
  overwrite(s, 0, 10);
  s.step("another size",
         [](scute::pool& p) { testing::set_engine(p, SCUTE_ENGINE_SPEC, uint64_t{64} << 10); });
  overwrite(s, 1, 11);
  return s;
}

// LOGFILE-6
testing::scenario grows(const level& l) {
  auto s = start("log-file-grows", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned i = 3; i < 5; ++i)
    s.step("make a large object",
           [i](scute::pool& p) { commit(p, 0, [i](change& c) { c.alloc(i, 20000, 20 + i); }); });
  s.step("overwrite more than the log holds", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned i = 0; i < 5; ++i) c.overwrite(i, 30 + i);
    });
  });
  checkpoint(s);
  overwrite(s, 0, 40);
  checkpoint(s);
  overwrite(s, 1, 41);
  overwrite(s, 2, 42);
  return s;
}

// Ranges in place over two files (SPEC-7).
testing::scenario in_place(const level& l) {
  auto s = start("log-file-in-place", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  s.step("store in place over a checkpoint", [](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(1, 30, 300, 21);
    p.drain();
    c.commit();
  });
  s.step("and take it back", [](scute::pool& p) {
    change c(p, 0);
    c.edit_in_place(1, 10, 300, 22);
    p.drain();
    p.drain();
    c.abort();
  });
  return s;
}

// CLOG-7: lanes share a stream.
testing::scenario threads(const level& l, uint64_t) {
  auto s = start("log-file-threads", l);
  for (unsigned t = 0; t < 2; ++t) {
    auto one = s.in_thread(t);
    one.observe([t](scute::pool& p) { return contents(p, t); });
    for (unsigned k = 0; k < 2; ++k)
      one.step("overwrite object " + std::to_string(k) + " of thread " + std::to_string(t),
               [=](scute::pool& p) { commit(p, t, [&](change& c) { c.overwrite(k, 10 + k); }); });
  }
  return s;
}

// The same with three lanes: checkpoints concurrently with ranges in place, which end well or do
// not, a transaction larger than the log, and the end of the process
// (CLOG-7, SPEC-7, LOGFILE-4, LOGFILE-6).
testing::scenario crowd(const level& l, uint64_t) {
  testing::scenario s = with_directories(std::string("log-file-crowd/") + l.name, l.protection, 3);
  s.with_log_file();
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 3; ++t)
      commit(p, t, [](change& c) {
        for (uint64_t i = 0; i < 3; ++i) c.alloc(i, spec_sizes[i], static_cast<unsigned>(i) + 1);
      });
    commit(p, 2, [](change& c) { c.alloc(3, 30000, 9); });
  });
  s.in_thread(0)
      .step("overwrite",
            [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(1, 10); }); })
      .step("in place, aborted",
            [](scute::pool& p) {
              change c(p, 0);
              c.edit_in_place(2, 100, 2000, 11);
              c.abort();
            })
      .step("in place", [](scute::pool& p) {
        commit(p, 0, [](change& c) { c.edit_in_place(2, 50, 2000, 12); });
      });
  s.in_thread(1)
      .step("overwrite",
            [](scute::pool& p) { commit(p, 1, [](change& c) { c.overwrite(2, 20); }); })
      .step("checkpoint", [](scute::pool& p) { p.drain(); })
      .step("overwrite two", [](scute::pool& p) {
        commit(p, 1, [](change& c) {
          c.overwrite(0, 21);
          c.overwrite(1, 22);
        });
      });
  s.in_thread(2)
      .step("overwrite more than the log holds",
            [](scute::pool& p) { commit(p, 2, [](change& c) { c.overwrite(3, 30); }); })
      .step("overwrite",
            [](scute::pool& p) { commit(p, 2, [](change& c) { c.overwrite(0, 31); }); });
  return s;
}

// One transaction after each kill, in a stream that lanes shared before (LOGFILE-2, SPEC-8).
testing::scenario killed_crowd(const level& l) {
  auto s = start("log-file-killed-crowd", l);
  s.lanes_in_turn();
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 2; ++k) {
    overwrite(s, k, 10 + k);
    s.step("in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.edit_in_place(2, 7 + k, 300, 20 + k); });
    });
    s.step_on_stage("be killed", [](const testing::stage& at) { at.abandon(); });
    s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  }
  overwrite(s, 2, 30);
  return s;
}

void allocate(testing::scenario& s, uint64_t slot, uint64_t size, unsigned fill) {
  s.step("allocate " + std::to_string(size) + " bytes",
         [=](scute::pool& p) { commit(p, 0, [&](change& c) { c.alloc(slot, size, fill); }); });
}
void allocate_in_vain(testing::scenario& s, uint64_t size) {
  s.step("allocate " + std::to_string(size) + " bytes, and abort", [=](scute::pool& p) {
    change c(p, 0);
    c.alloc(11, size, 1);
    c.abort();
  });
}

// Chunks come into use and become runs with transactions that end well, and with the one after
// those that do not; a span comes between, and a close (PEND-1, PEND-3, PEND-4).
testing::scenario pending(const level& l) {
  auto s = start("log-file-pending", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  allocate(s, 3, 700, 10);
  allocate_in_vain(s, 1000);
  allocate(s, 4, 700, 11);
  allocate(s, 5, 1000, 12);
  allocate_in_vain(s, 1500);
  allocate(s, 6, 12000, 13);
  reopen(s);
  allocate_in_vain(s, 2000);
  reopen(s);
  allocate(s, 7, 2000, 14);
  s.step("free one, allocate one", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      c.free(7);
      c.alloc(8, 2000, 15);
    });
  });
  return s;
}

// A run passes its mark in one transaction, and in one after what was aborted; then the process
// ends (PEND-3).
testing::scenario pending_slots(const level& l) {
  testing::scenario s =
      with_directories(std::string("log-file-pending-slots/") + l.name, l.protection);
  s.with_log_file();
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 2; ++t)
      commit(p, t, [&](change& c) {
        for (unsigned k = 0; k < slots; ++k) c.alloc(k, 100, 20 * t + k);
      });
  });
  s.step("allocate 12, and abort", [](scute::pool& p) {
    change c(p, 2);
    for (unsigned k = 0; k < 12; ++k) c.alloc(k, 100, 60 + k);
    c.abort();
  });
  s.step("allocate 10", [](scute::pool& p) {
    commit(p, 2, [](change& c) {
      for (unsigned k = 0; k < 10; ++k) c.alloc(k, 100, 80 + k);
    });
  });
  s.step_on_stage("be killed", [](const testing::stage& at) { at.abandon(); });
  s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  s.step("allocate 2", [](scute::pool& p) {
    commit(p, 2, [](change& c) {
      for (unsigned k = 10; k < 12; ++k) c.alloc(k, 100, 80 + k);
    });
  });
  s.observe([](scute::pool& p) {
    return contents(p, 0) + "; " + contents(p, 1) + "; " + contents(p, 2);
  });
  return s;
}

// Two lanes take new chunks, and each other's pending ones along (PEND-1).
testing::scenario allocators(const level& l, uint64_t) {
  auto s = start("log-file-allocators", l);
  for (unsigned t = 0; t < 2; ++t) {
    auto one = s.in_thread(t);
    one.observe([t](scute::pool& p) { return contents(p, t); });
    one.step("allocate 700 bytes",
             [t](scute::pool& p) { commit(p, t, [&](change& c) { c.alloc(3, 700, 30 + t); }); });
    one.step("allocate 1000 bytes, and abort", [t](scute::pool& p) {
      change c(p, t);
      c.alloc(4, 1000, 1);
      c.abort();
    });
    one.step("allocate two", [t](scute::pool& p) {
      commit(p, t, [&](change& c) {
        c.alloc(4, 1000, 40 + t);
        c.alloc(5, 700, 50 + t);
      });
    });
  }
  return s;
}

}  // namespace

void add_log_file_scenarios(std::vector<entry>& to) {
  const std::initializer_list<level> at = {spec_levels[0], spec_levels[1], spec_levels[2],
                                           spec_levels[3], spec_levels[5]};
  add_at(
      at,
      {{"log-file-create", "engine spec, a log file: a pool is created", create},
       {"log-file-checkpoints", "engine spec, a log file: blocks are checkpointed between commits",
        checkpoints},
       {"log-file-sessions", "engine spec, a log file: closed, opened, killed", sessions},
       {"log-file-killed", "engine spec, a log file: killed and opened", killed},
       {"log-file-switches", "engine spec, a log file: the pool gets other engines", switches},
       {"log-file-lost", "engine spec, a log file: opened without its log", lost},
       {"log-file-resized", "engine spec, a log file: another size", resized},
       {"log-file-grows", "engine spec, a log file: a transaction larger than the log", grows},
       {"log-file-in-place", "engine spec, a log file: ranges in place over checkpoints", in_place},
       {"log-file-pending", "engine spec, a log file: chunks and runs that wait for a transaction",
        pending},
       {"log-file-pending-slots", "engine spec, a log file: slots that wait for a transaction",
        pending_slots},
       {"log-file-killed-crowd", "engine spec, a log file: killed between lanes", killed_crowd}},
      to);
  for (const level& l : at)
    to.push_back({std::string("log-file-threads/") + l.name,
                  "engine spec, a log file: lanes append to one stream",
                  [l](uint64_t seed) { return threads(l, seed); }});
  for (const level& l : at)
    to.push_back({std::string("log-file-allocators/") + l.name,
                  "engine spec, a log file: lanes allocate from new chunks",
                  [l](uint64_t seed) { return allocators(l, seed); }});
  for (const level& l : at)
    to.push_back(
        {std::string("log-file-crowd/") + l.name,
         "engine spec, a log file: three lanes, checkpoints, ranges in place, a large transaction",
         [l](uint64_t seed) { return crowd(l, seed); }});
}

}  // namespace scute::explore

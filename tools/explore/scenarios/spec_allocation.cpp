// SPDX-License-Identifier: BSD-3-Clause
// Engine spec with its log in a file of its own: one sync makes a transaction durable with all that
// its allocations need, also a longer log, and chunks that the log has older records of.
#include "scenarios/spec_scene.hpp"

namespace scute::explore {
namespace {

testing::scenario start_allocating(const std::string& name, const level& l) {
  auto s = spec_scene(name, l);
  s.with_log_file();
  s.observe([](scute::pool& p) { return contents(p, 0); });
  return s;
}

// New objects make the log grow; they are freed, the process ends, and a later growth comes over
// the bytes of an earlier one (LOGFILE-6).
testing::scenario grows_again(const level& l) {
  auto s = start_allocating("log-file-grows-again", l);
  for (unsigned k = 0; k < 2; ++k) {
    s.step("make two large objects", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.alloc(3, 20000, 20 + k);
        c.alloc(4, 17000, 30 + k);
      });
    });
    s.step("overwrite a small one",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(1, 40 + k); }); });
    if (k == 0) {
      checkpoint(s);
    } else {
      s.step_on_stage("be killed", [](const testing::stage& at) { at.abandon(); });
      s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
      s.step("overwrite another one",
             [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(2, 50); }); });
    }
    s.step("free them", [](scute::pool& p) {
      commit(p, 0, [](change& c) {
        c.free(3);
        c.free(4);
      });
    });
  }
  return s;
}

// Chunks get other uses while the log has records of the earlier ones (SPEC-12).
testing::scenario chunk_reuse(const level& l) {
  auto s = start_allocating("log-file-reuse", l);
  for (unsigned k = 0; k < 2; ++k) {
    s.step("allocate 17000",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.alloc(3, 17000, 10 + k); }); });
    s.step("edit it",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.edit(3, 4000, 300, 20 + k); }); });
    s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(3); }); });
    s.step("allocate small ones there", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        for (uint64_t i = 3; i < 7; ++i) c.alloc(i, 5000, 30 + k + static_cast<unsigned>(i));
      });
    });
    s.step("in place, aborted", [](scute::pool& p) {
      change c(p, 0);
      c.edit_in_place(5, 100, 3000, 40);
      c.abort();
    });
    if (k == 1) checkpoint(s);
    s.step("free them", [](scute::pool& p) {
      commit(p, 0, [](change& c) {
        for (uint64_t i = 3; i < 7; ++i) c.free(i);
      });
    });
  }
  return s;
}

}  // namespace

void add_allocation_scenarios(std::vector<entry>& to) {
  add_at(
      {spec_levels[0], spec_levels[1], spec_levels[2], spec_levels[3], spec_levels[5]},
      {{"log-file-grows-again", "engine spec, a log file: it grows again and again", grows_again},
       {"log-file-reuse", "engine spec, a log file: chunks get other uses", chunk_reuse}},
      to);
}

}  // namespace scute::explore

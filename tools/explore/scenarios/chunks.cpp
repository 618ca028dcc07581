// SPDX-License-Identifier: BSD-3-Clause
// How chunks come into use: runs that grow, spans over what were runs, space that was never used.
#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"
#include "scenarios/layout.hpp"

namespace scute::explore {
namespace {

void reopen(const testing::stage& at) {
  at.close();
  at.open();
}

// A chunk begins with 32 slots: objects of one size pass that mark.
testing::scenario growth(const level& l, const char* name, uint64_t size) {
  auto s = with_directories(std::string(name) + "/" + l.name, l.protection);
  s.setup([size](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 3; ++t)
      commit(p, t, [&](change& c) {
        for (unsigned k = 0; k < (t == 2 ? 4 : slots); ++k) c.alloc(k, size, 20 * t + k);
      });
  });
  for (unsigned n = 0; n < 2; ++n)
    s.step("allocate 4", [n, size](scute::pool& p) {
      commit(p, 2, [&](change& c) {
        for (unsigned k = 4 + 4 * n; k < 8 + 4 * n; ++k) c.alloc(k, size, 60 + k);
      });
    });
  s.step_on_stage("close and open", reopen);
  s.step("free one, allocate one", [size](scute::pool& p) {
    commit(p, 2, [size](change& c) {
      c.free(11);
      c.alloc(11, size, 80);
    });
  });
  s.observe([](scute::pool& p) {
    return contents(p, 0) + "; " + contents(p, 1) + "; " + contents(p, 2);
  });
  return s;
}

testing::scenario run_growth(const level& l) {
  return growth(l, "run-growth", 100);
}

// Of slots that fill whole blocks with their headers' lines.
testing::scenario dense_growth(const level& l) {
  return growth(l, "dense-growth", 32);
}

// Runs that were emptied become bodies of a span, when all other space is taken.
testing::scenario span_over_runs(const char* name, const level& l, log_in where) {
  auto s = with_directories(std::string(name) + "/" + l.name, l.protection);
  s.may_run_full();
  if (where == log_in::file) s.with_log_file();
  s.setup([](scute::pool& p) { make_directories(p); });
  s.step("make three runs", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 3; ++k) c.alloc(k, 3500 + 1000 * k, k);
    });
  });
  s.step("empty them", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 3; ++k) c.free(k);
    });
  });
  s.step("take all other chunks", [where](scute::pool& p) {
    const uint64_t n = p.info().chunks_free, size = p.info().chunk_size;
    // A fragment header for each 4 KiB.
    const auto bytes_in = [&](uint64_t chunks) {
      return chunks * (size - size / page * header_size - 32);
    };
    // Chunks of engine spec's log may lie between them.
    const bool divided = p.info().engine == SCUTE_ENGINE_SPEC && where == log_in::pool;
    const uint64_t second = divided ? n / 2 : 0;
    commit(p, 0, [&](change& c) {
      c.alloc(0, bytes_in(n - second), 9);
      if (second != 0) c.alloc(2, bytes_in(second), 9);
    });
  });
  // A run that waits for a transaction is there when the span takes all three chunks (PEND-4).
  if (where == log_in::file)
    s.step("allocate, and abort", [](scute::pool& p) {
      change c(p, 0);
      c.alloc(3, 2500, 1);
      c.abort();
    });
  const uint64_t span = where == log_in::file ? 45000 : 30000;
  s.step("a span over the runs",
         [span](scute::pool& p) { commit(p, 0, [&](change& c) { c.alloc(1, span, 11); }); });
  s.step("free it", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(1); }); });
  s.step_on_stage("close and open", reopen);
  s.step("a run again",
         [](scute::pool& p) { commit(p, 0, [](change& c) { c.alloc(1, 100, 12); }); });
  return s;
}

testing::scenario span_over_runs_in_pool(const level& l) {
  return span_over_runs("span-over-runs", l, log_in::pool);
}
testing::scenario span_over_runs_beside_log(const level& l) {
  return span_over_runs("log-file-span-over-runs", l, log_in::file);
}

// A stray store hit chunks that were never used, before the first ones are taken. (In columns that
// the tables do not use: those of the tables are recomputed after a crash.)
testing::scenario virgin_space(const level& l) {
  testing::scenario s(std::string("virgin-space/") + l.name, testing::small_pool(l.protection));
  s.setup([](scute::pool& p) {
    const std::span<std::byte> file = file_of(p);
    fill_bytes(file.data() + layout(file).chunk(2) + 100, 200, 3);
  });
  s.step("make the root, which takes the first chunks", [](scute::pool& p) {
    scute_oid root = SCUTE_OID_NULL;
    scute::detail::check(scute_root(p.native_handle(), 500, 1, &root));
  });
  s.observe([](scute::pool& p) {
    scute_oid root = SCUTE_OID_NULL;
    const int e = scute_root(p.native_handle(), 0, 1, &root);
    if (e == SCUTE_E_NOENT) return std::string("no root");
    scute::detail::check(e);
    return std::string("a root");
  });
  return s;
}

}  // namespace

void add_chunk_scenarios(std::vector<entry>& to) {
  struct kind {
    const char* name;
    const char* about;
    scute_protection from;  // the lowest one it is worth while at
    testing::scenario (*make)(const level&);
  };
  for (const kind& k :
       {kind{"run-growth", "a run gets further slots", SCUTE_PROTECT_NONE, run_growth},
        {"dense-growth", "a run of the smallest slots gets further ones", SCUTE_PROTECT_NONE,
         dense_growth},
        {"span-over-runs", "runs become a span, and runs again", SCUTE_PROTECT_NONE,
         span_over_runs_in_pool},
        {"virgin-space", "a scribble in unused chunks", SCUTE_PROTECT_MLP, virgin_space}})
    for (const level& l : every_level)
      // (Engine spec's log lies in the chunks that would not be used.)
      if (l.protection.protection >= k.from &&
          (k.make != virgin_space || l.protection.engine != SCUTE_ENGINE_SPEC))
        to.push_back({std::string(k.name) + "/" + l.name, k.about,
                      [make = k.make, l](uint64_t) { return make(l); }});
  for (const level& l : spec_levels)
    to.push_back({std::string("log-file-span-over-runs/") + l.name,
                  "engine spec, a log file: runs become a span, and runs again",
                  [l](uint64_t) { return span_over_runs_beside_log(l); }});
}

}  // namespace scute::explore

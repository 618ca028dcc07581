// SPDX-License-Identifier: BSD-3-Clause
// Engine spec with its log in tracks, eight and their XOR: crashes, of which the explorer damages a
// page of the log before it recovers from them; and pages that are lost or damaged by hand, one of
// each track. A log of segments that are large enough needs a pool that is larger than the others.
#include <array>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/layout.hpp"
#include "scenarios/spec_scene.hpp"

namespace scute::explore {
namespace {

// The smallest log that is made in tracks: for each lane, and the checkpoint's, two segments, and
// two more; a chunk has one segment. 64 KiB would be too small, since a segment shall have twice
// nine pages.
constexpr uint64_t segment = 131072;
constexpr unsigned tracks = 9;
constexpr uint64_t track_size = segment / page / tracks * page;
constexpr uint64_t line = 64;
constexpr uint64_t long_slot = 3, long_size = 14000;  // of which a segment holds six

testing::scenario scene(const std::string& name, const level& l, uint32_t lanes = 1) {
  scute_options o = testing::small_pool(l.protection);
  const uint64_t segments = 2 * (lanes + 1) + 2;
  o.lanes = lanes;
  o.chunk_size = segment;
  o.log_cap = segments * segment;
  constexpr uint64_t for_objects = 10;  // chunks
  o.size = (segments + for_objects) * segment * (4 + l.protection.parity) / 4;
  return spec_scene(name + "/" + l.name, o);
}

// Adds an object to which the others are small.
void with_long_object(testing::scenario& s) {
  s.setup([](scute::pool& p) {
    make_spec_objects(p);
    commit(p, 0, [](change& c) { c.alloc(long_slot, long_size, 4); });
  });
}

// The lines of the log that a transaction has written, by tracks. A segment is a chunk.
using appended = std::array<std::vector<uint64_t>, tracks>;

appended log_of(const testing::stage& at, const std::function<void(change&)>& body,
                unsigned thread = 0) {
  const std::vector<std::byte> before(at.bytes().begin(), at.bytes().end());
  commit(at.pool(), thread, body);
  const layout where(at);
  appended found;
  for (uint64_t i = 0; i < where.chunk_count; ++i) {
    if (at.bytes()[where.chunk_header(i) + chunk_kind] != kind_log) continue;
    const uint64_t begin = where.chunk(i);
    for (uint64_t k = 0; k < tracks * track_size; k += line)
      if (std::memcmp(before.data() + begin + k, at.bytes().data() + begin + k, line) != 0)
        found[k / track_size].push_back(begin + k);
  }
  for (const auto& lines : found)
    if (lines.empty()) throw std::logic_error("the log is not in tracks");
  return found;
}
void spoil_page(const testing::stage& at, uint64_t in, unsigned fill) {
  scribble(at, in / page * page, page, fill);
}

void die(const testing::stage& at) {
  at.abandon();
  at.open();
}

// Each state of a block, with ranges in place and without; frames of one row and of many (SEG-1,
// SEG-4).
testing::scenario checkpoints(const level& l) {
  auto s = scene("spec-tracks-checkpoints", l);
  with_long_object(s);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 4; ++k) {
    s.step("overwrite object " + std::to_string(k),
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(k, 10 + k); }); });
    s.step(k == 2 ? "in place, aborted" : "in place", [k](scute::pool& p) {
      change c(p, 0);
      c.edit_in_place(1, 33, 70, 20 + k);
      c.edit_in_place(2, 1000, 600, 30 + k);
      if (k == 2)
        c.abort();
      else
        c.commit();
    });
    if (k % 2 == 1) checkpoint(s);
  }
  s.step("all of them", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      for (unsigned i = 0; i < 4; ++i) c.overwrite(i, 40 + i);
    });
  });
  return s;
}

// The log is used again (SEG-2, SPEC-8, CLOG-1).
testing::scenario turns(const level& l) {
  auto s = scene("spec-tracks-turns", l);
  with_long_object(s);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 18; ++k) {
    s.step("overwrite two", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.overwrite(k % 3, 10 + k);
        c.overwrite(long_slot, 50 + k);
      });
    });
    if (k % 7 == 6)
      checkpoint(s);  // the lane is at its second segment, and takes the first one next
  }
  return s;
}

// The same with a transaction that takes parts in several segments.
testing::scenario parts(const level& l) {
  auto s = scene("spec-tracks-parts", l);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  s.step("allocate 110000",
         [](scute::pool& p) { commit(p, 0, [](change& c) { c.alloc(3, 110000, 4); }); });
  for (unsigned k = 0; k < 2; ++k)
    s.step("overwrite 110000 and another one", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.overwrite(3, 10 + k);
        c.overwrite(0, 10 + k);
      });
    });
  return s;
}

// A page of each track in turn is lost while the pool is open, and repaired; then one of another
// track is noise before a crash is recovered from (LOGSCRUB-2, LOSTLOG-1).
testing::scenario repaired(const level& l) {
  auto s = scene("spec-tracks-repaired", l);
  with_long_object(s);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned t = 0; t < tracks; ++t)
    s.step_on_stage(
        "a page of track " + std::to_string(t) + " is lost, repaired, and another damaged",
        [t](const testing::stage& at) {
          const appended a = log_of(at, [t](change& c) { c.overwrite(long_slot, 10 + t); });
          at.lose_page(a[t].front());
          at.pool().check(true);
          at.abandon();
          spoil_page(at, a[(t + 4) % tracks].front(), 77);
          at.open();
          if (at.pool().info().lost != 0) throw std::runtime_error("a loss is reported");
        });
  return s;
}

// A page of each track in turn is noise when the log is needed: all of it comes back, and nothing
// is reported as lost (SEG-4).
testing::scenario dead(const level& l) {
  auto s = scene("spec-tracks-dead", l);
  with_long_object(s);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned t = 0; t < tracks; ++t)
    s.step_on_stage("die, and a page of track " + std::to_string(t) + " is noise",
                    [t](const testing::stage& at) {
                      const appended a = log_of(at, [t](change& c) {
                        c.overwrite(long_slot, 10 + t);
                        c.overwrite(1, 10 + t);
                      });
                      at.abandon();
                      spoil_page(at, a[t].back(), 70 + t);
                      at.open();
                      if (at.pool().info().lost != 0)
                        throw std::runtime_error("a loss is reported");
                    });
  s.step("overwrite", [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(0, 50); }); });
  return s;
}

// Two tracks are more than the XOR makes up for: a decided transaction is reported as lost, once
// (GAP-2). After it another transaction: a missing last record leaves no trace (GAP-4).
testing::scenario gone(const level& l) {
  auto s = scene("spec-tracks-gone", l);
  s.may_lose().observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 3; ++k)
    s.step_on_stage("lines of two tracks are noise", [k](const testing::stage& at) {
      at.pool().drain();
      const appended a = log_of(at, [k](change& c) { c.overwrite(2, 20 + k); }, 1);
      commit(at.pool(), 1, [k](change& c) { c.overwrite(1, 30 + k); });
      at.abandon();
      for (const unsigned t : {k, k + 4})
        for (const uint64_t x : a[t]) scribble(at, x, line, 77);
      at.open();
      if (at.pool().info().lost == 0)
        throw std::runtime_error("the missing records are not reported");
      at.pool().drain();
      die(at);
      if (at.pool().info().lost != 0) throw std::runtime_error("it is reported twice");
    });
  return s;
}

// Version 40 of the second object says that the long one has to be right.
std::string when_checkpointed(scute::pool& p) {
  try {
    expect(p, 0, 1, 0, spec_sizes[1], 40);
  } catch (const std::exception&) {
    return "not yet";
  }
  expect(p, 0, long_slot, 0, long_size, 30);
  return "checkpointed";
}

// Pages of two tracks are lost while the pool is open: all is checkpointed at once, and nothing is
// missing (LOGSCRUB-3).
testing::scenario checkpointed(const level& l) {
  auto s = scene("spec-tracks-checkpointed", l);
  with_long_object(s);
  s.may_lose().observe(when_checkpointed);
  s.step_on_stage("pages of two tracks are lost, and looked at", [](const testing::stage& at) {
    const appended a = log_of(at, [](change& c) { c.overwrite(long_slot, 30); });
    for (const unsigned t : {2, 8}) at.lose_page(a[t].front());
    at.pool().check(true);
  });
  s.step("overwrite another one",
         [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(1, 40); }); });
  s.step_on_stage("die", die);
  s.step("nothing is missing", [](scute::pool& p) {
    if (p.info().lost != 0) throw std::runtime_error("a loss is reported, and there is none");
  });
  return s;
}

// A check, and a checkpoint, concurrent with commits (LOGSCRUB-1, CLOG-5).
testing::scenario beside(const level& l, uint64_t) {
  auto s = scene("spec-tracks-beside", l, 2);
  for (unsigned t = 0; t < 2; ++t)
    s.in_thread(t).observe([t](scute::pool& p) { return contents(p, t); });
  for (unsigned k = 0; k < 3; ++k) {
    s.in_thread(0).step("overwrite", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.overwrite(1 + k % 2, 10 + k); });
    });
    s.in_thread(0).step("in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.edit_in_place(2, 50, 900, 20 + k); });
    });
    s.in_thread(1).step("overwrite", [k](scute::pool& p) {
      commit(p, 1, [&](change& c) { c.overwrite(k, 30 + k); });
    });
    s.in_thread(1).step("check", [](scute::pool& p) {
      std::string reported;
      const auto found = [&](std::string_view what, uint64_t offset, auto...) {
        // (Of objects a check says so where transactions run, which it is not for; of the log it
        // does not.)
        if (what.find("log") != std::string_view::npos)
          reported += " " + std::string(what) + " at " + std::to_string(offset);
      };
      p.check(false, found);
      if (!reported.empty())
        throw std::runtime_error("a record being written is reported as damage:" + reported);
    });
    s.in_thread(1).step("checkpoint", [](scute::pool& p) { p.drain(); });
  }
  return s;
}

}  // namespace

void add_track_scenarios(std::vector<entry>& to) {
  add_at(
      {spec_levels[1], spec_levels[2], spec_levels[3]},
      {{"spec-tracks-checkpoints", "engine spec, a log in tracks: checkpoints between commits",
        checkpoints},
       {"spec-tracks-dead", "engine spec, a log in tracks: a page damaged before recovery", dead}},
      to);
  // The number of parities makes no difference to these, and so large a pool takes time.
  const level& l = spec_levels[1];
  add_at(
      {l},
      {{"spec-tracks-turns", "engine spec, a log in tracks: it is turned over", turns},
       {"spec-tracks-parts", "engine spec, a log in tracks: transactions of several frames", parts},
       {"spec-tracks-repaired", "engine spec, a log in tracks: pages lost one after the other",
        repaired},
       {"spec-tracks-gone", "engine spec, a log in tracks: lines of two tracks damaged", gone},
       {"spec-tracks-checkpointed",
        "engine spec, a log in tracks: two pages lost, and checkpointed", checkpointed}},
      to);
  to.push_back({std::string("spec-tracks-beside/") + l.name,
                "engine spec, a log in tracks: checks and checkpoints concurrent with commits",
                [l](uint64_t seed) { return beside(l, seed); }});
}

}  // namespace scute::explore

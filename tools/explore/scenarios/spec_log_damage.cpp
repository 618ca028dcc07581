// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: damage to the log itself, while the pool is open
// (core/engine/speculative/log_scrubber.hpp) and before a crash is recovered from
// (core/engine/speculative/recovery/gap_detection.hpp). Of pools whose log is in two copies.
#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/layout.hpp"
#include "scenarios/spec_scene.hpp"

namespace scute::explore {
namespace {

constexpr uint64_t line = 64, truncation_at = 32, list_number = 16;

// The lines of the log that a transaction has written, by their copies. The first line of a segment
// is its head.
struct appended {
  std::vector<uint64_t> lines[2];
};
bool is_head(uint64_t at) noexcept {
  return at % page == 0;  // segments are as small as can be
}

appended log_of(const testing::stage& at, const std::function<void(change&)>& body,
                unsigned thread) {
  const std::vector<std::byte> before(at.bytes().begin(), at.bytes().end());
  commit(at.pool(), thread, body);
  const layout where(at);
  appended found;
  std::vector<uint64_t> chunks;
  for (uint64_t i = 0; i < where.chunk_count; ++i) {
    if (at.bytes()[where.chunk_header(i) + chunk_kind] != kind_log) continue;
    for (uint64_t k = where.chunk(i); k < where.chunk(i) + where.chunk_size; k += line) {
      if (std::memcmp(before.data() + k, at.bytes().data() + k, line) == 0) continue;
      if (chunks.empty() || chunks.back() != i) chunks.push_back(i);
      if (chunks.size() > 2)
        throw std::logic_error("more than one segment, or more than two copies");
      found.lines[chunks.size() - 1].push_back(k);
    }
  }
  if (chunks.size() != 2) throw std::logic_error("the log has no two copies");
  return found;
}

void spoil(const testing::stage& at, const std::vector<uint64_t>& lines, bool heads = true) {
  for (const uint64_t k : lines)
    if (heads || !is_head(k)) scribble(at, k, line, 77);
}
// List and truncation point in one of the two replicas.
void spoil_list(const testing::stage& at, uint64_t replica) {
  const layout where(at);
  const uint64_t lane = where.lane(0, replica);
  scribble(at, lane + truncation_at, lane_ring - truncation_at, 88);
  scribble(at, lane + lane_ring, where.ring_size(), 88);
}
// One of the two places of the list, in all replicas: that of the higher number; of two alike, this
// one.
void spoil_place(const testing::stage& at, uint64_t place, uint64_t replicas) {
  const layout where(at);
  const uint64_t half = where.ring_size() / 2 / line * line;
  uint64_t numbers[2] = {};
  for (const uint64_t which : {0, 1})
    std::memcpy(&numbers[which],
                &at.bytes()[where.lane(0) + lane_ring + which * half + list_number], 8);
  if (numbers[0] != numbers[1]) place = numbers[1] > numbers[0] ? 1 : 0;
  for (uint64_t r = 0; r < replicas; ++r)
    scribble(at, where.lane(0, r) + lane_ring + place * half, line, 99);
}
void die(const testing::stage& at) {
  at.abandon();
  at.open();
}

// Records that one copy lacks come from the other, before that one is needed as well
// (LOGSCRUB-2, LOSTLOG-1). Of an open pool pages are lost: before other damage the explorer lets
// all be checkpointed.
testing::scenario repaired(const level& l) {
  auto s = spec_scene("spec-log-repaired", l, 1);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 4; ++k)
    s.step_on_stage(
        "a page of the log is lost in one copy, repaired, and the record damaged in the other one",
        [k](const testing::stage& at) {
          const appended a = log_of(at, [k](change& c) { c.overwrite(0, 10 + k); }, 0);
          at.lose_page(a.lines[k % 2].front());
          at.pool().check(true);
          at.abandon();
          spoil(at, a.lines[1 - k % 2]);
          at.open();
        });
  return s;
}

// The same of the list and the truncation point: while the pool is open, and when it is opened
// (LOGSCRUB-2, LOGSCRUB-4).
testing::scenario lists(const level& l) {
  auto s = spec_scene("spec-log-lists", l, 1);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 2; ++k) {
    for (unsigned i = 0; i < 2; ++i) {
      s.step("checkpoint", [](scute::pool& p) { p.drain(); });
      s.step("overwrite",
             [i, k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(i, 10 + k); }); });
    }
    s.step_on_stage("one copy of the list is damaged, repaired, and then the other one",
                    [k](const testing::stage& at) {
                      spoil_list(at, k);
                      at.pool().check(true);
                      spoil_list(at, 1 - k);
                      die(at);
                    });
    s.step_on_stage("one copy is damaged while the pool is closed", [k](const testing::stage& at) {
      at.close();
      spoil_list(at, k);
      at.open();
      if (at.pool().check(false).damaged != 0)
        throw std::runtime_error("opening has left it as it was");
    });
    s.step_on_stage("and then the other one", [k](const testing::stage& at) {
      at.close();
      spoil_list(at, 1 - k);
      at.open();
    });
  }
  return s;
}

// The chunks of an older list may be objects by now: one place is as good as the other (LIST-3).
testing::scenario list_places(const level& l) {
  auto s = spec_scene("spec-list-places", l, 1, 32768);
  const uint64_t replicas = l.protection.protection == SCUTE_PROTECT_NONE ? 1 : 2;
  s.observe([](scute::pool& p) { return contents(p, 0); });
  const auto overwrite = [&](const char* what, uint64_t i, unsigned fill) {
    s.step(what,
           [i, fill](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(i, fill); }); });
  };
  s.step("allocate 60000",
         [](scute::pool& p) { commit(p, 0, [](change& c) { c.alloc(3, 60000, 4); }); });
  for (unsigned k = 0; k < 2; ++k) {
    overwrite("overwrite 60000, which lends chunks to the log", 3, 10 + k);
    for (unsigned i = 0; i < 3; ++i) {
      checkpoint(s);
      overwrite("overwrite 64, which gives them back", 0, 20 + 3 * k + i);
    }
    s.step("allocate 17000",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.alloc(4, 17000, 30 + k); }); });
    s.step_on_stage("a place of the list is damaged while the pool is closed",
                    [k, replicas](const testing::stage& at) {
                      at.close();
                      spoil_place(at, k, replicas);
                      at.open();
                    });
    overwrite("overwrite 60000", 3, 40 + k);
    s.step("free 17000", [](scute::pool& p) { commit(p, 0, [](change& c) { c.free(4); }); });
  }
  return s;
}

// Version 40 of the second object says that the first one has to be right.
std::string when_checkpointed(scute::pool& p) {
  try {
    expect(p, 0, 1, 0, spec_sizes[1], 40);
  } catch (const std::exception&) {
    return "not yet";
  }
  expect(p, 0, 0, 0, spec_sizes[0], 30);
  return "checkpointed";
}

// A record that no copy has any more is checkpointed at once, and no lane continues after it
// (LOGSCRUB-3).
testing::scenario checkpointed(const level& l) {
  auto s = spec_scene("spec-log-checkpointed", l, 1);
  s.may_lose().observe(when_checkpointed);
  s.step_on_stage("pages of the log are lost in all copies, and repaired",
                  [](const testing::stage& at) {
                    const appended a = log_of(at, [](change& c) { c.overwrite(0, 30); }, 0);
                    for (const auto& lines : a.lines) at.lose_page(lines.front());
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

// Damage to void records does not count (LOGSCRUB-1).
testing::scenario of_void(const level& l) {
  auto s = spec_scene("spec-log-void", l, 1);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 2; ++k)
    s.step_on_stage("a record is checkpointed and damaged, another one follows",
                    [k](const testing::stage& at) {
                      const appended a = log_of(at, [k](change& c) { c.overwrite(0, 10 + k); }, 1);
                      at.pool().drain();
                      spoil(at, a.lines[k], false);
                      commit(at.pool(), 0, [k](change& c) { c.overwrite(0, 20 + k); });
                      if (at.pool().check(false).damaged != 0)
                        throw std::runtime_error("damage to a void record is reported");
                    });
  return s;
}

// Decided records that are missing from all copies are reported when the pool is opened, and once
// (GAP-2, GAP-3, GAP-5), as soon as all is checkpointed.
testing::scenario gone(const level& l) {
  auto s = spec_scene("spec-log-gone", l, 1);
  s.may_lose().observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned slot = k == 1 ? 2 : 0;  // 2: one record fills a segment
    s.step_on_stage(k == 2   ? "a segment is damaged in all copies"
                    : k == 1 ? "the last record of a segment is damaged in all copies"
                             : "a record is damaged in all copies",
                    [k, slot](const testing::stage& at) {
                      at.pool().drain();
                      const auto change_it = [&](unsigned fill) {
                        return log_of(
                            at,
                            [&](change& c) {
                              c.overwrite(slot, fill);
                              if (k == 1) c.overwrite(1, fill);  // which leaves no room for a part
                            },
                            1);
                      };
                      const appended a = change_it(10 + k);
                      const appended behind = change_it(20 + k);
                      at.abandon();
                      for (const auto& lines : a.lines) spoil(at, lines, false);
                      if (k == 2)
                        for (const auto& lines : behind.lines)
                          for (const uint64_t x : lines) scribble(at, x / page * page, line, 77);
                      at.open();
                      if (at.pool().info().lost == 0)
                        throw std::runtime_error("the missing records are not reported");
                      at.pool().drain();
                      die(at);
                      if (at.pool().info().lost != 0)
                        throw std::runtime_error("it is reported twice");
                    });
  }
  s.step("overwrite", [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(0, 50); }); });
  return s;
}

// A check concurrent with commits: a record being appended is no damage (LOGSCRUB-1, CLOG-5).
testing::scenario checked(const level& l, uint64_t) {
  auto s = spec_scene("spec-log-checked", l, 2);
  auto one = s.in_thread(0);
  one.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 4; ++k) {
    one.step("overwrite", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.overwrite(k % 2 == 0 ? 1 : 2, 10 + k); });
    });
    s.in_thread(1).step("check", [](scute::pool& p) {
      if (p.check(false).damaged != 0)
        throw std::runtime_error("a record being written is reported as damage");
    });
  }
  return s;
}

}  // namespace

void add_log_damage_scenarios(std::vector<entry>& to) {
  add_at({spec_levels[1], spec_levels[2]},
         {{"spec-log-repaired", "engine spec: records damaged in one copy, and in the other",
           repaired},
          {"spec-log-lists", "engine spec: the same of the list and the truncation point", lists},
          {"spec-log-checkpointed", "engine spec: records damaged in all copies, and checkpointed",
           checkpointed},
          {"spec-log-void", "engine spec: damage to void records", of_void},
          {"spec-log-gone", "engine spec: records that are missing after a crash", gone}},
         to);
  // Of two parities there is too little room in so small a pool.
  add_at({spec_levels[0], spec_levels[1]},
         {{"spec-list-places", "engine spec: either place of the list is damaged", list_places}},
         to);
  for (const level& l : {spec_levels[1], spec_levels[2]})
    to.push_back({std::string("spec-log-checked/") + l.name,
                  "engine spec: checks concurrent with commits",
                  [l](uint64_t seed) { return checked(l, seed); }});
}

}  // namespace scute::explore

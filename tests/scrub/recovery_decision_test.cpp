// SPDX-License-Identifier: BSD-3-Clause
// The decision table of resolution. The test derives the required decision of each row from a
// model of the protocol: all states of a member, of its ring and of its columns that a crash can
// leave, and the required result of each.
#include "core/engine/logfree/recovery_decision.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace scute::test {
using namespace core;
namespace {

using engine::decoded;
using engine::recovery_decision;
using engine::ring;
using engine::stored;

using question = std::tuple<stored, decoded, ring>;

std::string text(const question& q) {
  constexpr const char* s[] = {"valid", "invalid"};
  constexpr const char* d[] = {"same", "other", "noise"};
  constexpr const char* r[] = {"complete", "broken", "decided"};
  return std::string(s[static_cast<int>(std::get<0>(q))]) + ", " +
         d[static_cast<int>(std::get<1>(q))] + ", " + r[static_cast<int>(std::get<2>(q))];
}

std::set<question> every_question() {
  std::set<question> all;
  for (const stored s : {stored::valid, stored::invalid})
    for (const decoded d : {decoded::same, decoded::other, decoded::noise})
      for (const ring r : {ring::complete, ring::broken}) all.insert({s, d, r});
  // The test does not ask for it in other states.
  all.insert({stored::invalid, decoded::other, ring::decided});
  all.insert({stored::valid, decoded::other, ring::decided});
  return all;
}

// ---- the model ----------------------------------------------------------------------------------

enum version : int { before, after, torn };

// A state, and what must be true once everything is resolved.
struct need {
  version kept, column;  // the stored version, and the one that its columns decode to
  version wanted;        // the version that the member must end up with
};

std::map<question, std::vector<need>> reachable() {
  std::map<question, std::vector<need>> all;
  const auto both_rings = {ring::complete, ring::broken};
  const auto add = [&](stored s, decoded d, ring r, need n) { all[{s, d, r}].push_back(n); };
  // A member M of a transaction, the rest of which is as a whole `others`: one version, or torn
  // (some of it is new, some old, some half written).
  for (const version data : {before, after, torn})
    for (const version others : {before, after, torn})
      for (const version parity : {before, after, torn}) {
        const bool decided = data == after && others == after;
        if (parity != before && !decided) continue;  // LF-1: a fence lies between
        const stored s = data == torn ? stored::invalid : stored::valid;
        // Decoding gives the version that the parity encodes. Torn parity gives what is neither
        // (LF-4).
        const decoded d = parity == torn   ? decoded::noise
                          : parity == data ? decoded::same
                                           : decoded::other;
        const need n{data, parity, decided ? after : before};
        if (data == after) {
          // The ring of the new header names the other members.
          add(s, d, others == after ? ring::complete : ring::broken, n);
        } else {
          // The old header's ring is of an earlier transaction, whose members may have been written
          // since; a torn header's leads anywhere.
          for (const ring r : both_rings) add(s, d, r, n);
        }
      }
  // Settled, and then another transaction has written a member: M's ring is broken, and M right.
  add(stored::valid, decoded::same, ring::broken, {after, after, after});
  // A bystander: another row's cell of its columns is open, or the column lacks bytes of no
  // member.
  for (const ring r : both_rings) add(stored::valid, decoded::noise, r, {before, torn, before});
  return all;
}

// The effect of a decision on the member's bytes and on its columns.
struct effect {
  bool stored_stays;
  bool parity_follows_now;
};
std::optional<effect> effect_of(recovery_decision v) {
  switch (v) {
    case recovery_decision::keep: return effect{true, false};
    case recovery_decision::finish: return effect{true, true};
    case recovery_decision::roll_back: return effect{false, false};
    case recovery_decision::lost: break;
  }
  return std::nullopt;
}

// ---- the table ----------------------------------------------------------------------------------

TEST(recovery_decision, EveryCombinationOccursOnce) {
  std::map<question, int> rows;
  for (const engine::decision_row& r : engine::decision_table)
    ++rows[{r.kept, r.column, r.members}];
  EXPECT_EQ(std::size(engine::decision_table), 14u);
  for (const question& q : every_question()) EXPECT_EQ(rows[q], 1) << text(q);
  EXPECT_EQ(rows.size(), every_question().size());
}

TEST(recovery_decision, FollowsTheTable) {
  for (const engine::decision_row& r : engine::decision_table)
    EXPECT_EQ(engine::decision_for(r.kept, r.column, r.members), r.what)
        << text({r.kept, r.column, r.members});
}

// Wherever a crash can lead, the decision leaves the bytes that must be there, and the columns
// adding up with them or left to be recomputed.
TEST(recovery_decision, TornBytesAreFinishedOrRolledBack) {
  size_t looked_at = 0;
  for (const auto& [q, needs] : reachable()) {
    const auto e = effect_of(engine::decision_for(std::get<0>(q), std::get<1>(q), std::get<2>(q)));
    ASSERT_TRUE(e) << text(q) << " is given up, though a crash alone can lead there";
    for (const need& n : needs) {
      ++looked_at;
      EXPECT_EQ(e->stored_stays ? n.kept : n.column, n.wanted) << text(q);
      // Another valid version must not stay in the columns: a torn cell of another row would be
      // decoded with it, and nothing would tell. Noise is recomputed when all that can be explained
      // is.
      if (std::get<1>(q) == decoded::other) {
        EXPECT_TRUE(!e->stored_stays || e->parity_follows_now) << text(q);
      }
    }
  }
  EXPECT_EQ(looked_at, 20u);
}

// A crash alone leads to eight of the fourteen; the others need damage besides.
TEST(recovery_decision, WhatNoChecksumAcceptsIsReported) {
  const auto states = reachable();
  EXPECT_EQ(states.size(), 8u);
  for (const question& q : every_question()) {
    if (states.count(q) != 0) continue;
    // Sound, and another member is lost: see NothingIsGuessed.
    if (q == question{stored::valid, decoded::other, ring::decided}) continue;
    // Neither version is valid, or the valid one would be half of a transaction. So recovery may
    // write nothing for it, and may not report it as sound.
    EXPECT_EQ(std::get<0>(q), stored::invalid) << text(q);
    EXPECT_EQ(engine::decision_for(std::get<0>(q), std::get<1>(q), std::get<2>(q)),
              recovery_decision::lost)
        << text(q);
  }
}

// An incomplete ring counts as decided only where a member testifies, and only what no checksum
// accepts is given up.
TEST(recovery_decision, NothingIsGuessed) {
  for (const engine::decision_row& r : engine::decision_table) {
    const std::string row = text({r.kept, r.column, r.members});
    if (r.what == recovery_decision::finish) {
      EXPECT_NE(r.members, ring::broken) << row;
      EXPECT_EQ(r.kept, stored::valid) << row;
    }
    if (r.what == recovery_decision::roll_back) {
      EXPECT_EQ(r.column, decoded::other) << row;
    }
    if (r.what == recovery_decision::keep) {
      EXPECT_EQ(r.kept, stored::valid) << row;
    }
    EXPECT_EQ(
        r.what == recovery_decision::lost,
        r.kept == stored::invalid && (r.column != decoded::other || r.members == ring::decided))
        << row;
  }
}

}  // namespace
}  // namespace scute::test

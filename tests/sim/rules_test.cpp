// SPDX-License-Identifier: BSD-3-Clause
// The recovery rules of hardware SpecPMT: the holes of the paper's rules one by one, on records
// written by hand, and all rules on the abstract machine, where leaving any of them out brings a
// wrong line.
#include <gtest/gtest.h>

#include "rules/abstract_machine.hpp"

namespace scute::sim {
namespace {

log_record undo(uint32_t transaction, uint64_t time) {
  return {record_kind::undo, 0, transaction, time, time, 0, 1, 0};
}
log_record line(uint32_t transaction, uint64_t time) {
  return {record_kind::line, 0, transaction, time, time, 0, 1, 0};
}
log_record page(uint32_t transaction, uint64_t from, uint64_t to) {
  return {record_kind::page, 0, transaction, from, to, 0, 64, 0};
}
log_record commit(uint32_t transaction, uint64_t time) {
  return {record_kind::commit, 0, transaction, time, time, 0, 0, 0};
}

using records = std::vector<log_record>;

// The number of the record that line 0 is restored from, or -1 for the bytes in place.
int source(const records& all, const rule_set& rules) {
  records numbered = all;
  for (size_t i = 0; i < numbered.size(); ++i) numbered[i].bytes = static_cast<uint32_t>(i);
  const log_record* const from = recovery(numbered, 0, rules).source_for(0);
  return from == nullptr ? -1 : static_cast<int>(from->bytes);
}

// 1. A line is logged while its page is hot; the page becomes cold; a later transaction undo-logs
// the line and writes it back. HPMT-2.
TEST(Holes, OldRecordOverNewerData) {
  const records all{line(1, 5), commit(1, 6), undo(2, 9), commit(2, 10)};
  EXPECT_EQ(source(all, rules_of_paper()), 0);
  EXPECT_EQ(source(all, rule_set{}), -1);
}

// 2. A's page record is uncommitted; B changes a line of the page afterwards, cold, and
// commits. HPMT-3 keeps such records from existing; that a newer commit counts more holds as well.
TEST(Holes, UncommittedPageOverLaterCommit) {
  const records all{page(1, 5, 6), undo(2, 9), commit(2, 10)};
  EXPECT_EQ(source(all, rules_of_paper()), 0);
  EXPECT_EQ(source(all, rule_set{}), -1);
}

// 3. A's committed copy of a page holds a line that B has changed and not committed. HPMT-1,
//    HPMT-4.
TEST(Holes, CommittedPageOverUndo) {
  const records cold{undo(2, 3), page(1, 5, 6), commit(1, 7)};
  EXPECT_EQ(source(cold, rules_of_paper()), 1);
  EXPECT_EQ(source(cold, rule_set{}), 0);
  const records hot{line(3, 1), commit(3, 2), line(2, 4), page(1, 5, 6), commit(1, 7)};
  EXPECT_EQ(source(hot, rules_of_paper()), 3);
  EXPECT_EQ(source(hot, rule_set{}), 0);
}

// 4. Times begin again at the next start, so that a new record looks older than one that a recovery
// left. HPMT-5: the next time is above all that was found, and above the truncation point.
TEST(Holes, TimesBeginAgain) {
  const records all{line(1, 50), commit(1, 51), line(2, 1), commit(2, 2)};
  EXPECT_EQ(source(all, rule_set{}), 0);  // the result of a restarted clock
  EXPECT_GT(recovery(all, 0, rule_set{}).next_time(), 51U);
  EXPECT_GT(recovery(all, 90, rule_set{}).next_time(), 90U);
}

// 5. While A copies the page, B changes a line that was copied before, and commits. HPMT-6.
TEST(Holes, PageCopiedWhileOthersStore) {
  const records all{page(1, 5, 9), line(2, 7), commit(2, 8), commit(1, 10)};
  EXPECT_EQ(source(all, rules_of_paper()), 0);
  EXPECT_EQ(source(all, rule_set{}), 1);
}

// 6. A hot line leaves the cache, logged; its page becomes cold; the same transaction undo-logs the
// line with its own uncommitted bytes. HPMT-1, second part.
TEST(Holes, UndoOfUncommittedBytes) {
  const records all{line(1, 2), commit(1, 3), line(2, 5), undo(2, 7)};
  EXPECT_EQ(source(all, rule_set{}), 0);
}

TEST(Holes, ReplayedInOrderOfLog) {
  EXPECT_EQ(source({undo(1, 2), line(1, 3), commit(1, 4)}, rule_set{}), 1);
  EXPECT_EQ(source({line(1, 2), undo(1, 3), commit(1, 4)}, rule_set{}), -1);
}

TEST(TruncationPoint, VoidsOlderRecords) {
  const records all{line(1, 5), commit(1, 6)};
  EXPECT_EQ(recovery(all, 5, rule_set{}).source_for(0)->kind, record_kind::line);
  EXPECT_EQ(recovery(all, 6, rule_set{}).source_for(0), nullptr);
}

// A run of the abstract machine that ends badly, or 0.
uint64_t first_failure(const rule_set& rules, uint64_t runs, unsigned steps, uint64_t& crashes) {
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    abstract_machine m(rules, seed);
    for (unsigned i = 0; i < steps; ++i)
      if (!m.step()) return seed;
    crashes += m.crashes();
  }
  return 0;
}

TEST(AbstractMachine, RulesHold) {
  uint64_t crashes = 0;
  EXPECT_EQ(first_failure(rule_set{}, 3000, 2000, crashes), 0U);
  EXPECT_GT(crashes, 30000U);
}

TEST(AbstractMachine, PapersRulesDoNot) {
  uint64_t crashes = 0;
  EXPECT_NE(first_failure(rules_of_paper(), 100, 2000, crashes), 0U);
}

// Each rule left out: the order of the log (HPMT-13), the truncation point after a recovery
// (HPMT-14), and all others.
class WithoutRule : public testing::TestWithParam<named_rule> {};

TEST_P(WithoutRule, SomeLineIsWrong) {
  rule_set rules;
  rules.*GetParam().rule = false;
  uint64_t crashes = 0;
  // Stories of records that outlive newer ones are long.
  const bool long_story = std::string_view(GetParam().name) == "HPMT-9";
  EXPECT_NE(first_failure(rules, 4000, long_story ? 3000 : 2000, crashes), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, WithoutRule,
                         testing::ValuesIn(all_rules().begin(), all_rules().end()),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace scute::sim

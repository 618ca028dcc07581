// SPDX-License-Identifier: BSD-3-Clause
// Power failures at every durable change of random transactions, for each scheme; and the bugs that
// they must find. Each is checked against SCHEME-1, too.
#include <gtest/gtest.h>

#include "crash/story.hpp"
#include "schemes/hoop.hpp"
#include "schemes/spec_hpmt.hpp"
#include "schemes/undo.hpp"

namespace scute::sim {
namespace {

struct outcome {
  uint64_t stories = 0, crashes = 0, wrong = 0;
  std::string first;
  scheme::counts all;
};

outcome play(const std::string& name, unsigned cores, unsigned stories,
             const std::function<void(scheme&)>& prepare = nullptr, bool stop_at_first = false,
             unsigned stores_max = story_plan().stores_max) {
  outcome o;
  for (unsigned seed = 1; seed <= stories; ++seed) {
    story_plan plan;
    plan.scheme_name = name;
    plan.seed = seed;
    plan.cores = cores;
    plan.prepare = prepare;
    plan.stores_max = stores_max;
    const story_end end = play_story(plan, small_machine(cores));
    ++o.stories;
    o.crashes += end.crashes;
    o.all.page_records += end.of_scheme.page_records;
    o.all.line_records += end.of_scheme.line_records;
    o.all.undo_records += end.of_scheme.undo_records;
    o.all.epochs_cleared += end.of_scheme.epochs_cleared;
    if (end.wrong.empty()) continue;
    if (o.wrong++ == 0) o.first = "seed " + std::to_string(seed) + ": " + end.wrong;
    if (stop_at_first) break;
  }
  return o;
}

class Consistent : public testing::TestWithParam<std::tuple<std::string, unsigned>> {};

TEST_P(Consistent, EveryPowerFailureIsSurvived) {
  const auto& [name, cores] = GetParam();
  const outcome o = play(name, cores, 40);
  EXPECT_EQ(o.wrong, 0U) << o.first;
  EXPECT_GT(o.crashes, 5000U);
  if (name.starts_with("spec")) {
    EXPECT_GT(o.all.page_records, 200U);
    EXPECT_GT(o.all.line_records, 200U);
    EXPECT_GT(o.all.undo_records, 200U);
    EXPECT_GT(o.all.epochs_cleared, 200U);
  }
}

std::vector<std::string> consistent_schemes() {
  std::vector<std::string> names;
  for (const scheme_kind& k : scheme_kinds())
    if (k.consistent) names.emplace_back(k.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Consistent,
                         testing::Combine(testing::ValuesIn(consistent_schemes()),
                                          testing::Values(1U, 2U)),
                         [](const auto& tested) {
                           std::string name = std::get<0>(tested.param);
                           std::ranges::replace(name, '-', '_');
                           return name + "_" + std::to_string(std::get<1>(tested.param));
                         });

// A scheme that is not crash consistent is found out.
TEST(Inconsistent, IsNoticed) {
  EXPECT_NE(play("none", 1, 5).wrong, 0U);
  EXPECT_NE(play("no-log", 1, 5).wrong, 0U);
}

struct planted {
  const char* rule;
  const char* name;
  unsigned cores;
  std::function<void(scheme&)> plant;
  unsigned stores_max = story_plan().stores_max;
};

class Planted : public testing::TestWithParam<planted> {};

TEST_P(Planted, IsNoticed) {
  const planted& p = GetParam();
  const outcome o = play(p.name, p.cores, 400, p.plant, true, p.stores_max);
  EXPECT_NE(o.wrong, 0U) << p.rule << " is left out, and " << o.crashes
                         << " power failures show nothing";
}

template <class Scheme>
std::function<void(scheme&)> leave_out(bool Scheme::* bug) {
  return [bug](scheme& s) { dynamic_cast<Scheme&>(s).*bug = true; };
}
std::function<void(scheme&)> without(bool rule_set::* rule) {
  return [rule](scheme& s) { dynamic_cast<spec_hpmt&>(s).rules.*rule = false; };
}

INSTANTIATE_TEST_SUITE_P(
    All, Planted,
    testing::Values(
        planted{"UNDO-1", "ede", 1, leave_out<undo_logging>(&undo_logging::plant_no_wait)},
        planted{"UNDO-2", "ede", 1, leave_out<undo_logging>(&undo_logging::plant_early_commit)},
        planted{"UNDO-3", "ede", 1, leave_out<undo_logging>(&undo_logging::plant_restore_new)},
        planted{"UNDO-1", "software-undo", 1,
                leave_out<undo_logging>(&undo_logging::plant_no_wait)},
        planted{"UNDO-2", "software-undo", 1,
                leave_out<undo_logging>(&undo_logging::plant_early_commit)},
        planted{"UNDO-3", "software-undo", 1,
                leave_out<undo_logging>(&undo_logging::plant_restore_new)},
        planted{"HOOP-1", "hoop", 1, leave_out<hoop_like>(&hoop_like::plant_early_end)},
        planted{"HOOP-2", "hoop", 1, leave_out<hoop_like>(&hoop_like::plant_early_drop)},
        planted{"HOOP-3", "hoop", 1, leave_out<hoop_like>(&hoop_like::plant_dirty_home)},
        planted{"HPMT-1", "spec", 1, without(&rule_set::first_undo_wins)},
        planted{"HPMT-2", "spec", 1, without(&rule_set::undo_counts)},
        planted{"HPMT-4", "spec", 2, without(&rule_set::page_leaves_out_open), 40},
        planted{"HPMT-7", "spec", 1, without(&rule_set::undo_line_written_on_eviction)},
        planted{"HPMT-8", "spec", 2, without(&rule_set::commit_cools)},
        planted{"HPMT-9", "spec", 2, without(&rule_set::one_truncation_point)},
        planted{"HPMT-10", "spec", 1, without(&rule_set::log_before_eviction)},
        planted{"HPMT-11", "spec", 1, without(&rule_set::undo_before_line)},
        planted{"HPMT-12", "spec", 1, without(&rule_set::line_before_commit)},
        planted{"HPMT-15", "spec", 1, without(&rule_set::undo_line_logged_too)}),
    [](const auto& tested) {
      std::string name = std::string(tested.param.rule) + "_" + tested.param.name;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace scute::sim

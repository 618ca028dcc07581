// SPDX-License-Identifier: BSD-3-Clause
// Subjects that are no pools: the explorer finds a correct one sound, and the mistakes in others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <scute/exploration.hpp>

#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include "journal.hpp"
#include "support/project_paths.hpp"

namespace scute::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

scenario_of<journal> rows(mistake m = mistake::none, bool twice = true) {
  scenario_of<journal> s("rows", [=] { return std::make_unique<journal>(m, twice); });
  s.observe([](journal& j) { return j.text(); });
  for (uint64_t i = 1; i < 4; ++i)
    s.step("set to " + std::to_string(i), [i](journal& j) {
      journal::row r;
      r.fill(i);
      j.set(r);
    });
  return s;
}

explore_options states(uint64_t n) {
  explore_options o;
  o.states = n;
  return o;
}

std::string state_in(const std::string& story) {
  const auto at = story.find("state ") + 6;
  return story.substr(at, story.find('\n', at) - at);
}

// ---- the journal --------------------------------------------------------------------------------

TEST(Subject, ACorrectOneIsSound) {
  for (const bool eadr : {false, true}) {
    explore_options how = states(20000);
    how.eadr = eadr;
    const exploration r = explore(rows(), how);
    EXPECT_TRUE(r.sound) << r.story;
    EXPECT_GE(r.states, 5000u);
    EXPECT_GE(r.crash_points, 9u);
    EXPECT_GT(r.recrashed, 1000u);
    EXPECT_GT(r.killed, 500u);
    EXPECT_GT(r.damaged, 500u);
  }
}

TEST(Subject, MistakesAreCaught) {
  const struct {
    mistake what;
    const char *step, *wrong;
  } all[] = {
      {mistake::no_fence, "(under way)", "no copy matches its checksum"},
      {mistake::no_flush, "(under way)", "no copy matches its checksum"},
      {mistake::no_last_fence, "set to 1", "after recovery"},
      {mistake::no_checksum, "(under way)", "allowed is"},
      {mistake::no_refresh, "the process died", "of this recovery"},
      {mistake::no_recovery_fence, "(under way)", "of this recovery"},
      {mistake::no_repair, "damaged", "check finds the journal damaged"},
  };
  for (const auto& one : all) {
    explore_options how = states(20000);
    how.thorough = true;
    const exploration r = explore(rows(one.what), how);
    ASSERT_FALSE(r.sound) << static_cast<int>(one.what);
    EXPECT_THAT(r.story, HasSubstr("scenario \"rows\", state s1."));
    EXPECT_THAT(r.story, HasSubstr(one.step));
    EXPECT_THAT(r.story, HasSubstr(one.wrong));
    // By its name alone.
    how.only = state_in(r.story);
    EXPECT_EQ(explore(rows(one.what), how).story, r.story);
  }
}

// A mistake of recovery shows only if recovery is cut short.
TEST(Subject, ARecoveryThatIsCutShort) {
  explore_options how = states(20000);
  how.crash_recovery = false;
  const exploration r = explore(rows(mistake::no_recovery_fence), how);
  EXPECT_TRUE(r.sound) << r.story;
}

TEST(Subject, StoriesHaveItsWords) {
  const exploration r = explore(rows(mistake::no_fence), states(20000));
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("copy 0 +"));
  EXPECT_THAT(r.story, Not(HasSubstr("pool")));
}

TEST(Subject, SameSeedSameExploration) {
  const exploration one = explore(rows(), states(3000)), two = explore(rows(), states(3000));
  EXPECT_EQ(one.states, two.states);
  EXPECT_EQ(one.recrashed, two.recrashed);
  EXPECT_EQ(one.killed, two.killed);
  EXPECT_EQ(one.damaged, two.damaged);
  EXPECT_EQ(one.crash_points, two.crash_points);
}

TEST(Subject, ScenariosFromSeeds) {
  std::vector<uint64_t> made;
  explore_options how = states(10000);
  how.seed = 6;
  const exploration r = explore(
      [&](uint64_t seed) {
        made.push_back(seed);
        return rows(seed < 8 ? mistake::none : mistake::no_flush);
      },
      how);
  EXPECT_FALSE(r.sound);
  EXPECT_THAT(made, ::testing::ElementsAre(6, 7, 8));
}

// ---- what a subject need not be able to do ------------------------------------------------------

TEST(Subject, WithoutFaults) {
  explore_options how = states(3000);
  EXPECT_EQ(explore(rows(mistake::none, false), how).damaged, 0u);
  // Nothing is left out then by asking for them.
  scenario_of<journal> s("one row", [] { return std::make_unique<journal>(mistake::none, false); });
  s.step("count", [](journal& j) { j.set({1}); }).observe([](journal& j) { return j.text(); });
  how.states = 1000000;
  how.crash_recovery = false;
  const exploration r = explore(s, how);
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_TRUE(r.complete);
}

TEST(Subject, ItCannotLosePages) {
  auto s = rows();
  s.step_on_stage("lose a page", [](const stage_of<journal>& st) { st.lose_page(0); });
  const exploration r = explore(s);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("step \"lose a page\" threw: this journal cannot lose pages"));
}

TEST(Subject, Defaults) {
  class plain : public subject {
    uint64_t size() const override { return 4096; }
    void create(memory&, uint64_t) override {}
    void open(memory&) override {}
    findings check(bool) override { return {}; }
    void probe() override {}
    void close() override {}
    void abandon() noexcept override {}
  } p;
  subject& s = p;
  EXPECT_EQ(s.noun(), "structure");
  EXPECT_EQ(s.place({}, 7), "offset +7");
  EXPECT_EQ(s.recovered(), "");
  EXPECT_FALSE(s.ran_full(std::runtime_error("")));
  EXPECT_FALSE(s.takes_faults());
  EXPECT_TRUE(s.injure(fault_moment::before_recovery, {}, 1).bytes.empty());
  EXPECT_THROW(s.lose_page(0), std::logic_error);
}

// ---- scenarios ----------------------------------------------------------------------------------

TEST(Subject, MadeClosedAndLeftByASteps) {
  scenario_of<journal> s("life");
  s.without_subject()
      .step_on_stage("create",
                     [](const stage_of<journal>& st) {
                       EXPECT_FALSE(st.is_open());
                       EXPECT_THROW(st.get(), std::logic_error);
                       st.create();
                       EXPECT_THROW(st.open(), std::logic_error);
                     })
      .step("set", [](journal& j) { j.set({1, 2, 3}); })
      .step_on_stage("close and open",
                     [](const stage_of<journal>& st) {
                       st.close();
                       EXPECT_THROW(st.close(), std::logic_error);
                       st.open();
                     })
      .step_on_stage("die and come back",
                     [](const stage_of<journal>& st) {
                       st.abandon();
                       EXPECT_FALSE(st.is_open());
                       st.open();
                       EXPECT_THAT(st.get().text(), HasSubstr("1 2 3 0"));
                     })
      .step_on_stage("damage, and repair it",
                     [](const stage_of<journal>& st) {
                       const std::vector<std::byte> noise(9, std::byte{3});
                       st.damage(4096, noise);
                       EXPECT_EQ(st.bytes()[4096], std::byte{3});
                       EXPECT_EQ(st.get().check(true).damaged, 1u);
                       EXPECT_EQ(st.get().check(false).damaged, 0u);
                     })
      .observe([](journal& j) { return j.text(); });
  const exploration r = explore(s, states(5000));
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_EQ(r.damaged, 0u);  // one fault is enough
}

TEST(Subject, SetupProbeAndSpace) {
  const auto make = [] {
    scenario_of<journal> s("full");
    s.setup([](journal& j) { j.set({9, 5}); })
        .step("set more than there is room for", [](journal& j) { j.set({10}); })
        .observe([](journal& j) { return j.text(); });
    return s;
  };
  exploration r = explore(make(), states(100));
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("threw: no room for more than 9"));
  r = explore(make().may_run_full(), states(100));
  EXPECT_TRUE(r.sound) << r.story;
  r = explore(make().may_run_full().probe([](journal&) { throw std::runtime_error("no good"); }),
              states(100));
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("the probe failed: no good"));
}

// ---- threads ------------------------------------------------------------------------------------

// Counters on lines of their own, and one for all.
class tallies : public subject {
 public:
  explicit tallies(bool one_writer = false) : one_writer_(one_writer) {}

  void count(size_t thread, size_t which) {
    writer& out = *out_[one_writer_ ? 0 : thread];
    uint64_t& to = at_[which * 8];
    const uint64_t next = to + 1;
    out.store(&to, &next, sizeof next);
    out.flush(&to, sizeof next);
    out.fence();
  }
  uint64_t operator[](size_t which) const { return at_[which * 8]; }

  uint64_t size() const override { return 4096; }
  void create(memory& m, uint64_t) override { open(m); }
  void open(memory& m) override {
    at_ = reinterpret_cast<uint64_t*>(m.bytes().data());
    for (auto& out : out_) out.emplace(m);
  }
  findings check(bool) override { return {}; }
  void probe() override { count(0, 7); }
  void close() override { abandon(); }
  void abandon() noexcept override {
    for (auto& out : out_) out.reset();
  }

 private:
  const bool one_writer_;
  uint64_t* at_ = nullptr;
  std::optional<writer> out_[2];
};

scenario_of<tallies> counting(bool one_writer) {
  scenario_of<tallies> s("tallies", [=] { return std::make_unique<tallies>(one_writer); });
  for (size_t t = 0; t < 2; ++t)
    for (int i = 0; i < 2; ++i)
      s.in_thread(t)
          .step("count", [t](tallies& all) { all.count(t, t); })
          .observe([t](tallies& all) { return std::to_string(all[t]); });
  return s;
}

TEST(SubjectThreads, WithWritersOfTheirOwn) {
  const exploration r = explore(counting(false), states(5000));
  EXPECT_TRUE(r.sound) << r.story;
  EXPECT_GT(r.interleavings, 20u);
}

TEST(SubjectThreads, InOneWriter) {
  const exploration r = explore(counting(true), states(5000));
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("through the same writer"));
}

// A common counter: each thread also answers for its share in it, which it knows by itself.
exploration in_common(bool locked) {
  const auto lock = std::make_shared<testing::mutex>();
  scenario_of<tallies> s("in common");
  for (size_t t = 0; t < 2; ++t)
    s.in_thread(t)
        .step("count for all, and for itself",
              [=](tallies& all) {
                std::unique_lock<testing::mutex> hold;
                if (locked) hold = std::unique_lock<testing::mutex>(*lock);
                all.count(t, 2);
                all.count(t, t);
              })
        .observe([t](tallies& all) {
          if (all[0] + all[1] > all[2]) throw std::runtime_error("one was not counted for all");
          return std::to_string(all[t]);
        });
  return explore(s, states(5000));
}

TEST(SubjectThreads, LostUpdate) {
  const exploration r = in_common(false);
  ASSERT_FALSE(r.sound);
  EXPECT_THAT(r.story, HasSubstr("one was not counted for all"));
}

TEST(SubjectThreads, ALockBetweenThem) {
  const exploration r = in_common(true);
  EXPECT_TRUE(r.sound) << r.story;
}

// ---- wrong use ----------------------------------------------------------------------------------

TEST(Subject, SizesThatAreNone) {
  class odd : public tallies {
    uint64_t size() const override { return 5000; }
  };
  EXPECT_THROW(explore(scenario_of<odd>("odd")), std::invalid_argument);
  EXPECT_THROW(explore(scenario_of<tallies>("none", [] { return nullptr; })),
               std::invalid_argument);
}

TEST(Subject, BytesOutsideOfTheMemory) {
  class beyond : public tallies {
   public:
    void open(memory& m) override {
      tallies::open(m);
      writer out(m);
      const auto all = m.bytes();
      const uint64_t x = 0;
      EXPECT_THROW(out.store(all.data() + all.size() - 7, &x, 8), std::out_of_range);
      EXPECT_THROW(out.stream(const_cast<uint64_t*>(&x), &x, 8), std::out_of_range);
      EXPECT_THROW(out.flush(all.data() - 1, 1), std::out_of_range);
      EXPECT_THROW(out.flush(all.data(), SIZE_MAX), std::out_of_range);
      EXPECT_NO_THROW(out.flush(all.data() + all.size(), 0));
    }
  };
  scenario_of<beyond> s("beyond");
  s.step("count", [](beyond& all) { all.count(0, 0); });
  EXPECT_TRUE(explore(s, states(10)).sound);
}

// ---- the manual ---------------------------------------------------------------------------------

std::string text_of(const std::string& path) {
  std::ifstream in(test::source_path(path));
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

// The guide shows lines of a program that is compiled and run.
TEST(Subject, TheManualShowsWhatIsCompiled) {
  const std::string page = text_of("docs/guides/crash-testing.md"),
                    mark = "<!-- lines of crash_subject.cpp -->";
  const std::string program = text_of("examples/crash_subject.cpp");
  unsigned blocks = 0;
  for (auto at = page.find(mark); at != page.npos; at = page.find(mark, at + 1)) {
    const auto begin = page.find("```cpp\n", at) + 7;
    EXPECT_THAT(program, HasSubstr(page.substr(begin, page.find("```", begin) - begin)));
    ++blocks;
  }
  EXPECT_GE(blocks, 2u);
}

}  // namespace
}  // namespace scute::testing

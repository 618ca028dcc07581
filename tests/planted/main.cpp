// SPDX-License-Identifier: BSD-3-Clause
// Shows that the crash explorer can fail: every planted bug (planted.hpp) is switched on in
// turn, and its scenario must be violated within the budget that scenarios get in every test run.
// homes.txt says which scenario is to catch which bug. (A home with a colon in it is none of the
// explorer's: drills.sh.)
//
//   test-planted                     run all of it; the table is printed
//   test-planted BUG...              some of them, with their stories
//   test-planted --search [BUG...]   look for a scenario that catches each bug soon; prints homes
//   --among TEXT                     only in scenarios whose name has TEXT in it
//   --tenth N                        bugs whose home's name falls into this tenth, 0 to 9
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "attempt.hpp"
#include "support/project_paths.hpp"

using namespace scute;

namespace {

// The limit of ./dev explore and the test suite for each scenario.
constexpr uint64_t states_max = 20000;
// A bug may also make a scenario run for ever. That is reported, and counts as missed.
constexpr unsigned seconds_max = 60;
// The least number of states in which a scenario must be sound without a bug. (The suite of the
// explorer gives each of them more, on the real core.)
constexpr uint64_t control_min = 300;

std::map<std::string, std::string> read_homes() {
  std::map<std::string, std::string> homes;
  std::ifstream in(test::source_path("tests/planted/homes.txt"));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string bug, scenario;
    words >> bug >> scenario;
    homes[bug] = scenario;
  }
  return homes;
}

const explore::entry* find(const std::string& name) {
  for (const auto& e : explore::catalogue())
    if (e.name == name) return &e;
  return nullptr;
}

using bugs = std::vector<planted::description>;

// Of a home, by its name. (A bug that has none is of the first tenth, which complains.)
unsigned tenth_of(const std::string& home) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : home) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return home.empty() ? 0 : hash % 10;
}

// Without any bug every home must be sound in the states that showed its bugs, or their being
// caught says nothing. Returns how many are.
size_t control(const std::map<std::string, uint64_t>& homes) {
  std::vector<attempt> attempts;
  for (const auto& [name, states] : homes)
    attempts.push_back({{planted::bug::none, "none", ""}, find(name), states, 4 * seconds_max});
  size_t sound = 0;
  double seconds = 0;
  run_attempts(attempts, [&](const attempt& a, const outcome& o) {
    sound += !o.caught && !o.hung;
    seconds += o.seconds;
    if (o.hung) std::printf("%s hangs without any bug\n", a.scenario->name.c_str());
    if (o.caught)
      std::printf("%s is violated without any bug:\n%s\n", a.scenario->name.c_str(),
                  o.story.c_str());
    return true;
  });
  std::printf("%zu of %zu scenarios sound without a bug, in %.0f s of a processor\n", sound,
              homes.size(), seconds);
  return sound;
}

// The table; returns how many were caught, and sets how many are for drills.sh.
size_t run(const bugs& list, bool with_stories, size_t& drilled) {
  const auto homes = read_homes();
  std::vector<attempt> attempts;
  for (const auto& d : list) {
    const auto home = homes.find(d.name);
    if (home != homes.end() && home->second.find(':') != std::string::npos) {
      ++drilled;
      continue;
    }
    const explore::entry* e = home == homes.end() ? nullptr : find(home->second);
    if (e == nullptr)
      std::printf("%-22s has no scenario in tests/planted/homes.txt\n", d.name);
    else
      attempts.push_back({d, e, states_max, seconds_max});
  }
  std::printf("%-22s %-24s %7s %7s  %s\n", "bug", "scenario", "states", "seconds",
              "what is left out");
  size_t caught = 0, asserted = 0;
  std::map<std::string, uint64_t> states_of;  // home: most states that a bug took there
  run_attempts(attempts, [&](const attempt& a, const outcome& o) {
    uint64_t& most = states_of[a.scenario->name];
    most = std::max({most, o.states, control_min});
    const std::string states = std::to_string(o.states);
    std::printf("%-22s %-24s %7s %7.2f  %s\n", a.bug.name, a.scenario->name.c_str(),
                o.hung       ? "HUNG"
                : !o.caught  ? "MISSED"
                : o.asserted ? "assert"
                : o.died     ? "died"
                             : states.c_str(),
                o.seconds, a.bug.text);
    if (with_stories) std::printf("%s\n", o.story.c_str());
    std::fflush(stdout);
    caught += o.caught;
    asserted += o.asserted;
    return true;
  });
  std::printf("%zu of the %zu that were caught fell to an assertion first\n", asserted, caught);
  const size_t sound = control(states_of);
  return sound == states_of.size() ? caught : 0;
}

// All scenarios with a small budget; then, for the bugs that none of them caught, with larger ones.
// The first scenario that catches a bug is printed.
void search(bugs list, const std::string& among) {
  struct budget {
    uint64_t states;
    unsigned seconds;
  };
  for (const budget b : {budget{300, 5}, budget{2000, 10}, budget{10000, 30}}) {
    bugs missed;
    for (const auto& d : list) {
      std::vector<attempt> attempts;
      for (const auto& e : explore::catalogue())
        if (e.name.find(among) != std::string::npos)
          attempts.push_back({d, &e, b.states, b.seconds});
      bool found = false;
      run_attempts(attempts, [&](const attempt& a, const outcome& o) {
        if (o.caught)
          std::printf("%-22s %-24s # %s\n", d.name, a.scenario->name.c_str(),
                      o.died ? "died" : std::to_string(o.states).c_str());
        // One that dies says less than a story: perhaps there is a better one.
        found = found || o.caught;
        return !o.caught || o.died;
      });
      if (!found) missed.push_back(d);
      std::fflush(stdout);
    }
    list = missed;
  }
  for (const auto& d : list) std::printf("# %s: not found. %s\n", d.name, d.text);
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::string> wanted;
  std::string among;
  bool searching = false;
  int tenth = -1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--search") == 0)
      searching = true;
    else if (std::strcmp(argv[i], "--among") == 0 && i + 1 < argc)
      among = argv[++i];
    else if (std::strcmp(argv[i], "--tenth") == 0 && i + 1 < argc)
      tenth = std::atoi(argv[++i]);
    else
      wanted.insert(argv[i]);
  }
  bugs list;
  auto homes = read_homes();
  for (const auto& d : planted::all)
    if ((wanted.empty() || wanted.count(d.name) != 0) &&
        (tenth < 0 || tenth_of(homes[d.name]) == static_cast<unsigned>(tenth)))
      list.push_back(d);
  if ((tenth < 0 && list.size() < wanted.size()) || list.empty()) {
    std::fprintf(stderr, "some of these names are not in tests/planted/planted_bugs.inc\n");
    return 2;
  }
  if (searching) {
    search(list, among);
    return 0;
  }
  const auto begin = std::chrono::steady_clock::now();
  size_t drilled = 0;
  const size_t caught = run(list, !wanted.empty(), drilled);
  const size_t explored = list.size() - drilled;
  std::printf(
      "%zu of %zu planted bugs caught, in %.1f s; %zu others are for tests/planted/drills.sh\n",
      caught, explored,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), drilled);
  return caught == explored ? 0 : 1;
}

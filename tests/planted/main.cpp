// SPDX-License-Identifier: BSD-3-Clause
// Shows that the crash explorer can fail: every planted bug (medium/planted.hpp) is switched on in
// turn, and its scenario must be violated within the budget that scenarios get in every test run.
// homes.txt says which scenario is to catch which bug.
//
//   test-planted                run all of it; the table is printed
//   test-planted BUG...         some of them, with their stories
//   test-planted --search       look for the scenario that catches each bug soonest; prints homes
#include <fnmatch.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "medium/planted.hpp"
#include "scenarios/catalogue.hpp"

using namespace scute;

namespace {

// What ./dev explore and the test suite give each scenario.
constexpr uint64_t states_max = 20000;

struct outcome {
  bool caught = false;
  bool died = false;  // by an assertion or a signal, which is noticed as well
  uint64_t states = 0;
  std::string story;
};

// Explores one scenario with one bug, in a process of its own.
outcome attempt(planted::bug which, const explore::entry& e, uint64_t states) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid == 0) {
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);  // last words
    ::alarm(120);                    // a bug may also make it run for ever
    outcome o;
    try {
      planted::active = which;
      testing::explore_options how;
      how.states = states;
      how.thorough = true;
      const auto r = testing::explore(e.make, how);
      o.caught = !r.sound;
      o.states = r.states;
      o.story = r.story;
    } catch (const std::exception& error) {
      o.caught = true;  // the scenario could not even be set up
      o.story = error.what();
    }
    const std::string text =
        "=" + std::to_string(o.caught) + " " + std::to_string(o.states) + " " + o.story;
    if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(3);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  outcome o;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    o.caught = o.died = true;
    o.story = text;
    return o;
  }
  const size_t at = text.rfind("\n=") == std::string::npos ? text.find('=') : text.find('=');
  std::istringstream in(text.substr(at + 1));
  in >> o.caught >> o.states;
  std::getline(in, o.story, '\0');
  return o;
}

std::map<std::string, std::string> read_homes() {
  std::map<std::string, std::string> homes;
  std::ifstream in(SCUTE_SOURCE_DIR "/tests/planted/homes.txt");
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

void print(const planted::description& d, const std::string& home, const outcome& o) {
  std::printf("%-22s %-28s %8s  %s\n", d.name, home.c_str(),
              !o.caught  ? "MISSED"
              : o.died   ? "died"
                         : std::to_string(o.states).c_str(),
              d.text);
  std::fflush(stdout);
}

// Scenario by scenario with small budgets, then with larger ones.
void search(const planted::description& d) {
  for (uint64_t states = 400; states <= states_max; states *= 7)
    for (const auto& e : explore::catalogue()) {
      const outcome o = attempt(d.which, e, states);
      if (!o.caught) continue;
      std::printf("%-22s %-28s # %s\n", d.name, e.name.c_str(),
                  o.died ? "died" : std::to_string(o.states).c_str());
      std::fflush(stdout);
      return;
    }
  std::printf("# %s: not found. %s\n", d.name, d.text);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::string> wanted;
  bool searching = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--search") == 0)
      searching = true;
    else
      wanted.insert(argv[i]);
  }
  const auto homes = read_homes();
  const auto begin = std::chrono::steady_clock::now();
  unsigned tried = 0, caught = 0;
  if (!searching)
    std::printf("%-22s %-28s %8s  %s\n", "bug", "scenario", "states", "what is left out");
  for (const auto& d : planted::all) {
    if (!wanted.empty() && wanted.count(d.name) == 0) continue;
    ++tried;
    if (searching) {
      search(d);
      continue;
    }
    const auto home = homes.find(d.name);
    const explore::entry* e = home == homes.end() ? nullptr : find(home->second);
    if (e == nullptr) {
      std::printf("%-22s has no scenario in tests/planted/homes.txt\n", d.name);
      continue;
    }
    const outcome o = attempt(d.which, *e, states_max);
    print(d, e->name, o);
    if (!wanted.empty()) std::printf("%s\n", o.story.c_str());
    caught += o.caught;
  }
  if (searching) return 0;
  std::printf("%u of %u planted bugs caught, in %.1f s\n", caught, tried,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return tried != 0 && caught == tried ? 0 : 1;
}

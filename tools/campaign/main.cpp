// SPDX-License-Identifier: BSD-3-Clause
// main.cpp: scute-campaign: errors at set rates and sizes over pools at rest, and over a live
// workload; what came back, what was refused, and what was silently wrong.
#include "crossing_campaign.hpp"
#include "live_campaign.hpp"
#include "overwriting.hpp"
#include "report.hpp"
#include "rest_campaign.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>

namespace {

using namespace scute_campaign;
namespace fs = std::filesystem;

constexpr int exit_broken = 1, exit_usage = 2;

// A folder that goes away with its pools.
class workplace {
 public:
  explicit workplace(const std::string& dir) {
    fs::path parent = dir;
    if (parent.empty())
      parent =
          access("/dev/shm", W_OK | X_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path();
    folder_ = (parent / "scute-campaign-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), folder_);
  }
  ~workplace() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

struct rest_arguments {
  settings how;
  std::vector<std::string> levels;
  std::string dir, json, plot, drill_name;
};

scute_protection level_of(const std::string& name) {
  return static_cast<scute_protection>(std::find(level_names.begin(), level_names.end(), name) -
                                       level_names.begin());
}

CLI::Validator in(std::vector<std::string> names) {
  return CLI::IsMember(std::move(names)).description("");
}

void add_variant(CLI::App* app, variant& kind) {
  static const std::map<std::string, scute_engine> engines{
      {"auto", SCUTE_ENGINE_AUTO}, {"redo", SCUTE_ENGINE_REDO}, {"logfree", SCUTE_ENGINE_LOGFREE}};
  app->add_option("--engine", kind.engine, "of pools of level mlpc (default auto: logfree)")
      ->transform(CLI::CheckedTransformer(engines).description(""))
      ->type_name("redo|logfree");
  app->add_option("--parity", kind.parity,
                  "parity rows of such pools, with engine logfree (default 1)")
      ->check(CLI::Range(1, 4).description(""))
      ->type_name("P");
}

int run_rest(rest_arguments a) {
  if (!a.levels.empty()) {
    a.how.levels.clear();
    for (const std::string& name : a.levels) a.how.levels.push_back(level_of(name));
  }
  if (a.drill_name == "silent") a.how.spoil = drill::silent;
  if (a.drill_name == "greedy") a.how.spoil = drill::greedy;
  if (a.drill_name == "forgetful") a.how.spoil = drill::forgetful;
  const std::vector<cell> cells = grid(a.how);
  const workplace place(a.dir);
  a.how.folder = place.folder();
  fmt::print("{} cells of {} trials on pools of {} KiB, seed {}\n", cells.size(),
             a.how.trial >= 0 ? 1 : a.how.trials, a.how.size >> 10, a.how.seed);
  std::fflush(stdout);
  const auto reports = run_at_rest(a.how, cells);
  if (!a.json.empty()) write_json(a.json, a.how, reports);
  if (!a.plot.empty()) write_plot(a.plot, reports);
  const uint64_t broken = print_report(a.how, reports);
  if (broken == 0) {
    fmt::print("result: all that had to survive did, and nothing was silently wrong\n");
    return 0;
  }
  fmt::print("result: in {} trials something promised was not kept\n", broken);
  return exit_broken;
}

void add_rest(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand(
      "rest", "injure a pool at rest at a rate over its whole file, heal it, read everything");
  auto a = std::make_shared<rest_arguments>();
  app->add_option("--levels", a->levels, "protection levels (default none,ml,mlp,mlpc)")
      ->delimiter(',')
      ->check(in({level_names.begin(), level_names.end()}))
      ->type_name("LIST");
  add_variant(app, a->how.kind);
  app->add_option("--rows", a->how.rows, "data rows per parity row (default 1,20,100)")
      ->delimiter(',')
      ->type_name("LIST");
  app->add_option("--bits", a->how.bits, "sizes of errors (default 1,8,16,32,64)")
      ->delimiter(',')
      ->check(CLI::IsMember({1, 8, 16, 32, 64}).description(""))
      ->type_name("LIST");
  app->add_option("--rates", a->how.rates, "errors per bit (default 1e-9 to 1e-4)")
      ->delimiter(',')
      ->check(CLI::Range(1e-12, 0.01).description(""))
      ->type_name("LIST");
  app->add_option("--trials", a->how.trials, "of each cell (default 100)")->type_name("N");
  app->add_option("--size", a->how.size, "of the pool, in bytes (default 16 MiB)")->type_name("N");
  app->add_option("--seed", a->how.seed, "of contents and errors (default 1)")->type_name("N");
  app->add_option("--only", a->how.only, "one cell: mlpc/N20/8bit/1e-06")->type_name("CELL");
  app->add_option("--trial", a->how.trial, "one trial of that cell")
      ->type_name("K")
      ->needs("--only");
  app->add_option("--processes", a->how.processes, "at once (default 2)")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
  app->add_option("--dir", a->dir, "where to put the pools (default: in memory)")->type_name("DIR");
  app->add_option("--json", a->json, "write all numbers there")->type_name("FILE");
  app->add_option("--plot", a->plot, "write a plot (SVG) there")->type_name("FILE");
  app->add_option(
         "--drill", a->drill_name,
         "spoil the run on purpose, to see it fail: silent (an object reads wrong), greedy "
         "(everything is required to survive), forgetful (an enumeration misses an object)")
      ->check(in({"silent", "greedy", "forgetful"}))
      ->type_name("NAME");
  app->add_flag("--quiet", a->how.quiet, "no progress");
  app->callback([a, &status] { status = run_rest(*a); });
}

struct live_arguments {
  live_settings how;
  std::vector<std::string> levels{"mlp", "mlpc"};
  std::string dir, drill_name, heal;
  bool no_pages = false;
};

int run_live_campaigns(live_arguments a) {
  if (a.drill_name == "silent") a.how.spoil = drill::silent;
  a.how.pages = !a.no_pages;
  a.how.checks = a.heal != "scrub";
  a.how.scrubs = a.heal != "check";
  const workplace place(a.dir);
  a.how.folder = place.folder();
  bool kept = true;
  for (const std::string& name : a.levels) {
    a.how.level = level_of(name);
    kept = print_live(a.how, run_live(a.how)) && kept;
    std::fflush(stdout);
  }
  fmt::print("result: {}\n", kept ? "all promises were kept" : "something promised was not kept");
  return kept ? 0 : exit_broken;
}

void add_live(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand(
      "live", "faults rain while threads work; everything is compared with a model in memory");
  auto a = std::make_shared<live_arguments>();
  app->add_option("--levels", a->levels, "protection levels (default mlp,mlpc)")
      ->delimiter(',')
      ->check(in({level_names.begin(), level_names.end()}))
      ->type_name("LIST");
  add_variant(app, a->how.kind);
  app->add_option("--rows", a->how.rows, "data rows (default 20)")->type_name("N");
  app->add_option("--size", a->how.size, "of the pool, in bytes (default 16 MiB)")->type_name("N");
  app->add_option("--seconds", a->how.seconds, "for each level (default 10)")->type_name("N");
  app->add_option("--threads", a->how.threads, "that work (default 3)")->type_name("N");
  app->add_option("--seed", a->how.seed, "of the work and the faults; not of their moments")
      ->type_name("N");
  app->add_flag("--wild", a->how.wild,
                "faults fall anywhere, also where they cannot be healed: losses must be reported");
  app->add_option("--heal", a->heal,
                  "between showers: by checks, by scrubs, or both in turn (default)")
      ->check(in({"check", "scrub", "both"}))
      ->type_name("check|scrub|both");
  app->add_flag("--no-pages", a->no_pages, "flips and scribbles only");
  app->add_option("--dir", a->dir, "where to put the pool (default: in memory)")->type_name("DIR");
  app->add_option("--drill", a->drill_name,
                  "spoil the run on purpose, to see it fail: silent (an object reads wrong)")
      ->check(in({"silent"}))
      ->type_name("NAME");
  app->add_flag("--quiet", a->how.quiet, "no progress");
  app->callback([a, &status] { status = run_live_campaigns(*a); });
}

struct crossing_arguments {
  crossing_settings how;
  std::string dir, drill_name;
};

int run_crossing_campaign(crossing_arguments a) {
  if (a.drill_name == "silent") a.how.spoil = drill::silent;
  const workplace place(a.dir);
  a.how.folder = place.folder();
  const bool kept = run_crossings(a.how);
  fmt::print("result: {}\n", kept ? "all promises were kept" : "something promised was not kept");
  return kept ? 0 : exit_broken;
}

void add_crossing(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand("crossing",
                                      "kill a process that has a log-free pool, turn a row or a "
                                      "part of one into noise, read at once");
  auto a = std::make_shared<crossing_arguments>();
  app->add_option("--parity", a->how.parity, "parity rows (default 1)")
      ->check(CLI::Range(1, 4).description(""))
      ->type_name("P");
  app->add_option("--rows", a->how.rows, "data rows (default 6)")->type_name("N");
  app->add_option("--size", a->how.size, "of the pool, in bytes (default 8 MiB)")->type_name("N");
  app->add_option("--trials", a->how.trials, "how many (default 40)")->type_name("N");
  app->add_option("--trial", a->how.trial, "one of them")->type_name("K");
  app->add_option("--seed", a->how.seed, "of contents, work and damage (default 1)")
      ->type_name("N");
  app->add_option("--dir", a->dir, "where to put the pool (default: in memory)")->type_name("DIR");
  app->add_option("--drill", a->drill_name,
                  "spoil the run on purpose, to see it fail: silent (an object reads wrong)")
      ->check(in({"silent"}))
      ->type_name("NAME");
  app->add_flag("--quiet", a->how.quiet, "no progress");
  app->callback([a, &status] { status = run_crossing_campaign(*a); });
}

struct overwrite_arguments {
  overwriting_settings how;
  std::vector<std::string> shapes;
  std::string dir, drill_name;
  bool no_kills = false;
};

int run_overwrite(overwrite_arguments a) {
  if (a.drill_name == "silent") a.how.how.spoil = drill::silent;
  if (a.drill_name == "greedy") a.how.how.spoil = drill::greedy;
  a.how.kills = !a.no_kills;
  if (!a.shapes.empty()) {
    a.how.shapes.clear();
    for (const std::string& name : a.shapes)
      a.how.shapes.push_back(static_cast<shape>(
          std::find(shape_names.begin(), shape_names.end(), name) - shape_names.begin()));
  }
  const workplace place(a.dir);
  a.how.how.folder = place.folder();
  const uint64_t broken = run_overwriting(a.how);
  if (broken == 0) {
    fmt::print("result: everything survived\n");
    return 0;
  }
  fmt::print("result: in {} trials not everything survived\n", broken);
  return exit_broken;
}

void add_overwrite(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand(
      "overwrite",
      "overwrite as many pages of a column of a full pool as it has parities, read all");
  auto a = std::make_shared<overwrite_arguments>();
  settings& how = a->how.how;
  how.trials = 12;
  how.size = 4u << 20;
  app->add_option("--parity", a->how.parities, "parity rows (default 1,2,3,4)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4).description(""))
      ->type_name("LIST");
  app->add_option("--rows", a->how.rows, "data rows (default 20)")
      ->delimiter(',')
      ->type_name("LIST");
  app->add_option("--shapes", a->shapes, "where the pages are (default pages,table,columns,rows)")
      ->delimiter(',')
      ->check(in({shape_names.begin(), shape_names.end()}))
      ->type_name("LIST");
  app->add_option("--trials", how.trials, "of each kind (default 12)")->type_name("N");
  app->add_option("--trial", how.trial, "one of them")->type_name("K");
  app->add_option("--size", how.size, "of the pool, in bytes (default 4 MiB)")->type_name("N");
  app->add_option("--seed", how.seed, "of contents and noise (default 1)")->type_name("N");
  app->add_flag("--no-kills", a->no_kills, "no repair is cut short by kill -9");
  app->add_option("--dir", a->dir, "where to put the pool (default: in memory)")->type_name("DIR");
  app->add_option(
         "--drill", a->drill_name,
         "spoil the run on purpose, to see it fail: silent (an object reads wrong), greedy "
         "(one page more than there are parities)")
      ->check(in({"silent", "greedy"}))
      ->type_name("NAME");
  app->add_flag("--quiet", how.quiet, "no progress");
  app->callback([a, &status] { status = run_overwrite(*a); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Injures pools with errors of set rates and sizes (Pavise, section 6.2.2), and compares "
      "every\n"
      "byte of every object with what was stored.",
      "scute-campaign"};
  int status = 0;
  app.require_subcommand(1);
  add_rest(app, status);
  add_live(app, status);
  add_crossing(app, status);
  add_overwrite(app, status);
  app.footer(
      "Exit status: 0 if all promises were kept; 1 if not (what had to survive did not, or "
      "something\n"
      "was silently wrong); 2 if the run could not be made.\n"
      "\nExamples:\n"
      "  scute-campaign rest --plot figure12.svg\n"
      "  scute-campaign live --seconds 60\n"
      "  scute-campaign crossing --parity 2 --trials 1000\n"
      "  scute-campaign rest --levels mlpc --rows 100 --rates 1e-6,1e-5 --trials 20");
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "scute-campaign: {}\n", error.what());
  }
  return exit_usage;
}

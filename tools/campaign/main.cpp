// SPDX-License-Identifier: BSD-3-Clause
// main.cpp: scute-campaign: errors at set rates and sizes
// over pools at rest, and over a live workload; bytes that came back, that were refused, and that
// were silently wrong.
#include "crossing_campaign.hpp"
#include "dice.hpp"
#include "live_campaign.hpp"
#include "log_campaign.hpp"
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
#include <utility>

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

// The arguments of every campaign besides its settings.
struct arguments {
  std::string dir, drill_name;

  drill spoil() const {
    return drill_name == "silent"      ? drill::silent
           : drill_name == "greedy"    ? drill::greedy
           : drill_name == "forgetful" ? drill::forgetful
                                       : drill::none;
  }
};

struct rest_arguments : arguments {
  settings how;
  std::vector<std::string> levels;
  std::string json, plot;
};

scute_protection level_of(const std::string& name) {
  return static_cast<scute_protection>(std::find(level_names.begin(), level_names.end(), name) -
                                       level_names.begin());
}

CLI::Validator in(std::vector<std::string> names) {
  return CLI::IsMember(std::move(names)).description("");
}

template <typename T>
CLI::Option* add_number(CLI::App* app, const char* name, T& into, const char* text) {
  return app->add_option(name, into, text)->type_name("N");
}

template <typename T>
CLI::Option* add_list(CLI::App* app, const char* name, std::vector<T>& into, const char* text) {
  return app->add_option(name, into, text)->delimiter(',')->type_name("LIST");
}

CLI::Option* add_trial(CLI::App* app, int& into, const char* text) {
  return app->add_option("--trial", into, text)->type_name("K");
}

CLI::Option* add_levels(CLI::App* app, std::vector<std::string>& into, const char* text) {
  return add_list(app, "--levels", into, text)->check(in({level_names.begin(), level_names.end()}));
}

void add_dir(CLI::App* app, std::string& into, const char* what) {
  app->add_option("--dir", into, fmt::format("where to put the {} (default: in memory)", what))
      ->type_name("DIR");
}

// The options that come last, and each drill's action.
void add_end(CLI::App* app, std::string& drill_name, bool& quiet,
             const std::vector<std::pair<const char*, const char*>>& drills) {
  std::vector<std::string> names;
  std::string text = "spoil the run on purpose, to see it fail: ";
  for (const auto& [name, meaning] : drills) {
    text += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, meaning);
    names.emplace_back(name);
  }
  app->add_option("--drill", drill_name, text)->check(in(names))->type_name("NAME");
  app->add_flag("--quiet", quiet, "print no progress");
}

constexpr std::pair<const char*, const char*> silent_drill{"silent", "an object reads wrong"};

int report_kept(bool kept) {
  fmt::print("result: {}\n", kept ? "all promises were kept" : "a promise was broken");
  return kept ? 0 : exit_broken;
}

int report_broken(uint64_t trials, const char* none, const char* some) {
  if (trials == 0)
    fmt::print("result: {}\n", none);
  else
    fmt::print("result: in {} trials {}\n", trials, some);
  return trials == 0 ? 0 : exit_broken;
}

void add_chunk_size(CLI::App* app, uint32_t& into) {
  add_number(app, "--chunk-size", into,
             "bytes of a chunk, a power of two from 16384 to 262144 (default: by the seed)");
}

// Draws it unless it is given.
void draw_chunk_size(uint32_t& chunk_size, uint64_t seed, uint64_t pool_size) {
  if (chunk_size == 0) chunk_size = scute_tools::drawn_chunk_size(seed, pool_size);
  fmt::print("chunks of {} KiB\n", chunk_size >> 10);
  std::fflush(stdout);
}

void add_variant(CLI::App* app, variant& kind) {
  static const std::map<std::string, scute_engine> engines{{"auto", SCUTE_ENGINE_AUTO},
                                                           {"redo", SCUTE_ENGINE_REDO},
                                                           {"logfree", SCUTE_ENGINE_LOGFREE},
                                                           {"spec", SCUTE_ENGINE_SPEC}};
  app->add_option("--engine", kind.engine, "engine of pools of level mlpc (default auto: logfree)")
      ->transform(CLI::CheckedTransformer(engines).description(""))
      ->type_name("redo|logfree|spec");
  app->add_option("--parity", kind.parity,
                  "parity rows of such pools, with engine logfree or spec (default 1)")
      ->check(CLI::Range(1, 4).description(""))
      ->type_name("P");
  add_chunk_size(app, kind.chunk_size);
}

int run_rest(rest_arguments a) {
  if (!a.levels.empty()) {
    a.how.levels.clear();
    for (const std::string& name : a.levels) a.how.levels.push_back(level_of(name));
  }
  if (a.how.shielded) a.how.levels = {SCUTE_PROTECT_MLPC};
  a.how.spoil = a.spoil();
  draw_chunk_size(a.how.kind.chunk_size, a.how.seed, a.how.size);
  const std::vector<cell> cells = grid(a.how);
  const workplace place(a.dir);
  a.how.folder = place.folder();
  fmt::print("{} cells of {} trials on {} of {} KiB, seed {}\n", cells.size(),
             a.how.trial >= 0 ? 1 : a.how.trials, a.how.shielded ? "shielded files" : "pools",
             a.how.size >> 10, a.how.seed);
  std::fflush(stdout);
  const auto reports = run_at_rest(a.how, cells);
  if (!a.json.empty()) write_json(a.json, a.how, reports);
  if (!a.plot.empty()) write_plot(a.plot, reports);
  return report_broken(print_report(a.how, reports),
                       "all that had to survive did, and nothing was silently wrong",
                       "a promise was broken");
}

void add_rest(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand(
      "rest", "injure a pool at rest at a rate over its whole file, repair it, read everything");
  auto a = std::make_shared<rest_arguments>();
  auto* levels = add_levels(app, a->levels, "protection levels (default none,ml,mlp,mlpc)");
  app->add_flag("--shielded", a->how.shielded,
                "files under the shield instead of pools: they are injured with the FILE.scute "
                "next to them, and compared page by page (level mlpc)")
      ->excludes(levels);
  add_variant(app, a->how.kind);
  add_list(app, "--rows", a->how.rows, "data rows per parity row (default 1,20,100)");
  add_list(app, "--bits", a->how.bits, "bits of an error (default 1,8,16,32,64)")
      ->check(CLI::IsMember({1, 8, 16, 32, 64}).description(""));
  add_list(app, "--rates", a->how.rates, "errors per bit (default 1e-9 to 1e-4)")
      ->check(CLI::Range(1e-12, 0.01).description(""));
  add_number(app, "--trials", a->how.trials, "trials of each cell (default 100)");
  add_number(app, "--size", a->how.size, "size of the pool or file in bytes (default 16 MiB)");
  add_number(app, "--seed", a->how.seed, "seed of contents and errors (default 1)");
  app->add_option("--only", a->how.only, "run this one cell, such as mlpc/N20/8bit/1e-06")
      ->type_name("CELL");
  add_trial(app, a->how.trial, "run this one trial of that cell")->needs("--only");
  add_number(app, "--processes", a->how.processes, "trials that run at once (default 2)")
      ->check(CLI::PositiveNumber.description(""));
  add_dir(app, a->dir, "pools");
  app->add_option("--json", a->json, "write all numbers to FILE, as JSON")->type_name("FILE");
  app->add_option("--plot", a->plot, "write a plot to FILE, as SVG")->type_name("FILE");
  add_end(app, a->drill_name, a->how.quiet,
          {silent_drill,
           {"greedy", "everything is required to survive"},
           {"forgetful", "an enumeration misses an object"}});
  app->callback([a, &status] { status = run_rest(*a); });
}

struct live_arguments : arguments {
  live_settings how;
  std::vector<std::string> levels{"mlp", "mlpc"};
  std::string repair_by;
  bool no_pages = false;
};

int run_live_campaigns(live_arguments a) {
  a.how.spoil = a.spoil();
  a.how.pages = !a.no_pages;
  a.how.checks = a.repair_by != "scrub";
  a.how.scrubs = a.repair_by != "check";
  draw_chunk_size(a.how.kind.chunk_size, a.how.seed, a.how.size);
  const workplace place(a.dir);
  a.how.folder = place.folder();
  bool kept = true;
  for (const std::string& name : a.levels) {
    a.how.level = level_of(name);
    kept = print_live(a.how, run_live(a.how)) && kept;
    std::fflush(stdout);
  }
  return report_kept(kept);
}

void add_live(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand(
      "live", "inject faults while threads work, and compare everything with a model in memory");
  auto a = std::make_shared<live_arguments>();
  add_levels(app, a->levels, "protection levels (default mlp,mlpc)");
  add_variant(app, a->how.kind);
  add_number(app, "--rows", a->how.rows, "data rows (default 20)");
  add_number(app, "--size", a->how.size, "size of the pool in bytes (default 16 MiB)");
  add_number(app, "--seconds", a->how.seconds, "seconds that each level takes (default 10)");
  add_number(app, "--threads", a->how.threads, "threads of the workload (default 3)");
  add_number(app, "--seed", a->how.seed,
             "seed of the workload and the faults, not of their moments (default 1)");
  app->add_flag(
      "--wild", a->how.wild,
      "inject faults anywhere, also where they cannot be repaired: losses must be reported");
  app->add_option(
         "--repair-by", a->repair_by,
         "what repairs between bursts of faults: checks, scrubs, or both in turn (default)")
      ->check(in({"check", "scrub", "both"}))
      ->type_name("check|scrub|both");
  app->add_flag("--no-pages", a->no_pages, "lose no pages: flips and scribbles only");
  add_dir(app, a->dir, "pool");
  add_end(app, a->drill_name, a->how.quiet, {silent_drill});
  app->callback([a, &status] { status = run_live_campaigns(*a); });
}

struct crossing_arguments : arguments {
  crossing_settings how;
};

int run_crossing_campaign(crossing_arguments a) {
  a.how.spoil = a.spoil();
  draw_chunk_size(a.how.chunk_size, a.how.seed, a.how.size);
  const workplace place(a.dir);
  a.how.folder = place.folder();
  return report_kept(run_crossings(a.how));
}

void add_crossing(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand("crossing",
                                      "kill a process that has a pool, turn a row or a "
                                      "part of one into noise, read at once");
  auto a = std::make_shared<crossing_arguments>();
  static const std::map<std::string, scute_engine> engines{{"logfree", SCUTE_ENGINE_LOGFREE},
                                                           {"spec", SCUTE_ENGINE_SPEC}};
  app->add_option("--engine", a->how.engine, "engine of the pool (default logfree)")
      ->transform(CLI::CheckedTransformer(engines).description(""))
      ->type_name("logfree|spec");
  app->add_option("--parity", a->how.parity, "parity rows (default 1)")
      ->check(CLI::Range(1, 4).description(""))
      ->type_name("P");
  add_chunk_size(app, a->how.chunk_size);
  add_number(app, "--rows", a->how.rows, "data rows (default 6)");
  add_number(app, "--size", a->how.size, "size of the pool in bytes (default 8 MiB)");
  add_number(app, "--trials", a->how.trials, "number of trials (default 40)");
  add_trial(app, a->how.trial, "run this one trial");
  add_number(app, "--seed", a->how.seed, "seed of contents, work and damage (default 1)");
  add_dir(app, a->dir, "pool");
  add_end(app, a->drill_name, a->how.quiet, {silent_drill});
  app->callback([a, &status] { status = run_crossing_campaign(*a); });
}

struct log_arguments : arguments {
  log_settings how;
  std::vector<std::string> kinds, moments;
};

// Those of `names` that are named; all of them if none is.
template <typename T, size_t N>
void choose(std::vector<T>& into, const std::array<const char*, N>& names,
            const std::vector<std::string>& chosen) {
  if (chosen.empty()) return;
  into.clear();
  for (const std::string& name : chosen)
    into.push_back(static_cast<T>(std::find(names.begin(), names.end(), name) - names.begin()));
}

int run_log(log_arguments a) {
  a.how.spoil = a.spoil();
  choose(a.how.kinds, log_kind_names, a.kinds);
  choose(a.how.moments, moment_names, a.moments);
  const workplace place(a.dir);
  a.how.folder = place.folder();
  return report_kept(run_log_campaign(a.how));
}

void add_log(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand("log",
                                      "engine spec: injure the log, POOL.log or inside the pool, "
                                      "while the pool is closed, while a process "
                                      "commits, or when that is killed; read everything");
  auto a = std::make_shared<log_arguments>();
  add_list(app, "--logs", a->kinds,
           "how the log is protected: one-copy and two-copies lie in POOL.log, tracks (8 and their "
           "XOR) in the pool (default: all)")
      ->check(in({log_kind_names.begin(), log_kind_names.end()}));
  add_list(app, "--moments", a->moments,
           "moments of the damage: rest, live, crossing (default: all)")
      ->check(in({moment_names.begin(), moment_names.end()}));
  add_number(app, "--trials", a->how.trials, "trials of each log and moment (default 30)");
  add_trial(app, a->how.trial, "run this one trial");
  add_number(app, "--seed", a->how.seed, "seed of contents, work and damage (default 1)");
  add_dir(app, a->dir, "pools");
  add_end(app, a->drill_name, a->how.quiet,
          {silent_drill, {"greedy", "everything is required to survive"}});
  app->callback([a, &status] { status = run_log(*a); });
}

struct overwrite_arguments : arguments {
  overwriting_settings how;
  std::vector<std::string> shapes;
  bool no_kills = false;
};

int run_overwrite(overwrite_arguments a) {
  a.how.how.spoil = a.spoil();
  a.how.kills = !a.no_kills;
  draw_chunk_size(a.how.how.kind.chunk_size, a.how.how.seed, a.how.how.size);
  choose(a.how.shapes, shape_names, a.shapes);
  const workplace place(a.dir);
  a.how.how.folder = place.folder();
  return report_broken(run_overwriting(a.how), "everything survived", "not everything survived");
}

void add_overwrite(CLI::App& root, int& status) {
  CLI::App* app = root.add_subcommand(
      "overwrite",
      "overwrite as many pages of a column of a full pool as it has parities, read all");
  auto a = std::make_shared<overwrite_arguments>();
  settings& how = a->how.how;
  how.trials = 12;
  how.size = 4u << 20;
  add_list(app, "--parity", a->how.parities, "parity rows (default 1,2,3,4)")
      ->check(CLI::Range(1, 4).description(""));
  add_chunk_size(app, how.kind.chunk_size);
  add_list(app, "--rows", a->how.rows, "data rows (default 20)");
  add_list(app, "--shapes", a->shapes, "where the pages are (default pages,table,columns,rows)")
      ->check(in({shape_names.begin(), shape_names.end()}));
  add_number(app, "--trials", how.trials, "trials of each kind (default 12)");
  add_trial(app, how.trial, "run this one trial");
  add_number(app, "--size", how.size, "size of the pool in bytes (default 4 MiB)");
  add_number(app, "--seed", how.seed, "seed of contents and noise (default 1)");
  app->add_flag("--no-kills", a->no_kills, "cut no repair short by kill -9");
  add_dir(app, a->dir, "pool");
  add_end(app, a->drill_name, how.quiet,
          {silent_drill, {"greedy", "one page more than there are parities"}});
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
  add_log(app, status);
  app.footer(
      "Exit status: 0 if all promises were kept; 1 if not (what had to survive did not, or "
      "something\n"
      "was silently wrong); 2 if the run could not be made.\n"
      "\nExamples:\n"
      "  scute-campaign rest --plot figure12.svg\n"
      "  scute-campaign live --seconds 60\n"
      "  scute-campaign crossing --parity 2 --trials 1000\n"
      "  scute-campaign log --logs two-copies --moments crossing --trials 1000\n"
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

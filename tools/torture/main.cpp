// SPDX-License-Identifier: BSD-3-Clause
// main.cpp: scute-torture: worker processes on one pool, killed with SIGKILL at random instants,
// and a model outside of the pool that says what must be there afterwards.
#include "campaign.hpp"
#include "dice.hpp"
#include "drill.hpp"
#include "last_words.hpp"
#include "pow_campaign.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>
#include <system_error>

namespace {

using namespace scute_torture;
namespace fs = std::filesystem;

constexpr int exit_failed = 1, exit_usage = 2;

class workplace {
 public:
  explicit workplace(const settings& how) {
    fs::path parent = how.dir;
    if (parent.empty())
      parent = how.medium != "file" && access("/dev/shm", W_OK | X_OK) == 0
                   ? fs::path("/dev/shm")
                   : fs::temp_directory_path();
    folder_ = (parent / "scute-torture-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr)
      throw std::runtime_error(folder_ + ": " + std::generic_category().message(errno));
  }
  ~workplace() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(folder_, ignored);
  }
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;

  const std::string& folder() const { return folder_; }
  void keep() { keep_ = true; }

 private:
  std::string folder_;
  bool keep_ = false;
};

void print_summary(const campaign& c, const settings& how) {
  const tally& t = c.result();
  const auto row = [](const char* name, const std::string& value) {
    fmt::print("  {:<22} {}\n", name, value);
  };
  std::string by_moment;
  for (size_t i = 0; i < t.kills.size(); ++i)
    by_moment += fmt::format("{}{} {}", by_moment.empty() ? "" : ", ", t.kills[i], moment_names[i]);
  row("kills", fmt::format("{} ({:.1f}/s): {}", t.all_kills(),
                           static_cast<double>(t.all_kills()) / c.seconds(), by_moment));
  row("closed before the kill", fmt::format("{}", t.closed_in_time));
  row("committed", fmt::format("{} transactions ({:.0f}/s)", c.transactions(),
                               static_cast<double>(c.transactions()) / c.seconds()));
  row("in flight", fmt::format("{} found old, {} found new", c.book().found_old.load(),
                               c.book().found_new.load()));
  row("recoveries", fmt::format("{}, of which {} had transactions to end", c.book().opened.load(),
                                c.book().replayed.load()));
  row("verified",
      fmt::format("{} times, {} objects, {} MiB", t.verified, t.objects, t.bytes >> 20));
  row("repeat", how.command());
}

int run(settings how) {
  if (how.seed == 0) how.seed = std::random_device{}();
  if (how.kills == 0 && how.seconds == 0) how.seconds = 10;
  // Complains before anything is made.
  if (how.workload == "pow")
    pow_campaign::check(how);
  else if (how.chunk_size == 0)
    how.chunk_size = scute_tools::drawn_chunk_size(how.seed, how.pool().size);
  workplace place(how);
  if (how.workload == "pow") {
    if (!how.drill.empty() && how.drill != "stale")
      throw std::runtime_error("with --workload pow the only drill is stale");
    bool keep = how.keep;
    const int status = run_pow(how, place.folder(), keep);
    if (keep) place.keep();
    return status;
  }
  campaign c(how, place.folder());
  std::string kept;
  for (const auto& [name, value] : {std::pair{"the pool", c.path()},
                                    {"as the kill left it", c.killed_path()},
                                    {"repeat", how.command()}})
    kept += fmt::format("  {:<22} {}\n", name, value);
  set_last_words(kept);
  catch_signals();
  if (how.keep) place.keep();
  fmt::print("{}, seed {}, chunks of {} KiB\n", c.path(), how.seed, how.chunk_size >> 10);
  std::fflush(stdout);
  c.prepare();
  std::string failure;
  try {
    c.run();
  } catch (const violation& e) {
    failure = e.what();
  } catch (const scute::error& e) {
    failure = fmt::format("the verification failed: {}", e.what());
  }
  watch(0);
  print_summary(c, how);
  if (failure.empty()) {
    const space& s = c.result().now;
    fmt::print(
        "  {:<22} as much as when new: {} objects of 100 bytes, {} of 3,000, {} of a chunk\n",
        "space", s.small, s.medium, s.chunks);
    fmt::print("result: nothing is lost, nothing is half done, nothing is damaged\n");
    return 0;
  }
  place.keep();
  fmt::print("FAILED: {}\n{}", failure, kept);
  return exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Kills processes that work on a pool with SIGKILL at random instants (while they work, "
      "open,\n"
      "recover, create and close), opens the pool again and compares every byte with a model\n"
      "outside of it: what was committed is there, what was in flight happened wholly or not at\n"
      "all, nothing else is there, nothing is damaged, and no space is lost.",
      "scute-torture"};
  settings how;
  app.add_option("--dir", how.dir,
                 "folder for the pool (default: /dev/shm if possible, else TMPDIR)")
      ->type_name("DIR");
  app.add_option("--medium", how.medium, "medium of the pool (default auto: by its folder)")
      ->type_name("auto|ram|file|dax");
  app.add_option("--seconds", how.seconds,
                 "end after so many seconds (default 10; with --kills: no limit)")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("SECONDS");
  app.add_option("--kills", how.kills, "end after so many kills (default: no limit)")
      ->type_name("N");
  app.add_option("--threads", how.threads, "writers in the worker, 1 to 64 (default 4)")
      ->check(CLI::Range(1U, threads_max).description(""))
      ->type_name("N");
  app.add_option("--lanes", how.lanes,
                 "lanes of the pool; may be fewer than threads (default: by its size)")
      ->type_name("N");
  app.add_option("--parity", how.parity,
                 "rows of parity, 1 to 4, more than one with engines logfree and spec (default: by "
                 "protection)")
      ->type_name("N");
  app.add_option("--chunk-size", how.chunk_size,
                 "bytes of a chunk, a power of two from 16384 to 262144 (default: by the seed)")
      ->type_name("N");
  app.add_option("--seed", how.seed,
                 "repeats the actions and the waits; the moment of a kill still varies "
                 "(default: a random one, which is printed)")
      ->type_name("N");
  app.add_option("--size", how.size, "size of the pool in bytes, or with K, M, G (default 4M)")
      ->type_name("SIZE");
  app.add_option(
         "--protection", how.protection,
         "protection of the pool: none, ml, mlp or mlpc (default); of a persist-on-write file: "
         "none, sealed or always (default)")
      ->type_name("LEVEL");
  app.add_option("--engine", how.engine,
                 "engine of the pool (default auto: by protection and medium)")
      ->type_name("auto|redo|logfree|spec");
  app.add_option(
         "--workload", how.workload,
         "what the threads do: objects; containers; churn: fills the pool, frees, fills; crowd: "
         "all write one object without a lock; all (default): each another of the first three; "
         "pow: a persist-on-write file instead of a pool")
      ->check(
          CLI::IsMember({"objects", "containers", "churn", "crowd", "all", "pow"}).description(""))
      ->type_name("NAME");
  app.add_option("--drill", how.drill,
                 "spoil the pool on purpose, to see the run fail: stale, byte, column, write, "
                 "extra, hoard, "
                 "lock")
      ->check(CLI::IsMember(drills()).description(""))
      ->type_name("NAME");
  app.add_flag("--keep", how.keep, "keep the pool at the end (default: only if the run failed)");
  app.add_flag("--quiet", how.quiet, "print no progress");
  app.footer(
      "Exit status: 0 if all is well; 1 if something was lost, half done, damaged or leaked (the\n"
      "pool is kept, and its path printed); 2 if the run could not be made.\n"
      "\nExamples:\n"
      "  scute-torture --seconds 3600\n"
      "  scute-torture --dir . --medium file --kills 100\n"
      "  scute-torture --workload churn --size 1M --threads 8 --lanes 2 --protection ml\n"
      "  scute-torture --workload crowd --threads 8\n"
      "  scute-torture --workload pow --dir . --medium file");
  try {
    app.parse(argc, argv);
    return run(how);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "scute-torture: {}\n", error.what());
  }
  return exit_usage;
}

// SPDX-License-Identifier: BSD-3-Clause
// kv_load.cpp: scute kv load PATH FILE|-
#include "command.hpp"
#include "failure.hpp"
#include "loader.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "standard_streams.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

namespace scute_tool {

namespace {

constexpr const char* default_layout = "scute-kv";

struct arguments {
  std::string path;
  std::string file;
  std::string name;
  std::string format;
  pool_options options;
  uint64_t batch = 100;
  bool create = false;
  bool restart = false;
  bool json = false;
  bool quiet = false;
};

record_format format_of(const arguments& args) {
  if (!args.format.empty()) return args.format == "json" ? record_format::json : record_format::tsv;
  const std::string extension = std::filesystem::path(args.file).extension();
  return extension == ".jsonl" || extension == ".json" || extension == ".ndjson"
             ? record_format::json
             : record_format::tsv;
}

// Under which the position is kept: the same file is found again from any folder.
std::string name_of_source(const arguments& args) {
  if (!args.name.empty()) return args.name;
  if (args.file == "-") return "-";
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::canonical(args.file, error);
  return error ? args.file : absolute.string();
}

bool file_is_missing(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) != 0 && errno == ENOENT;
}

open_pool open_or_create(const arguments& args, progress& bar) {
  scute::options options = args.options.resolve();
  options.progress = bar.callback();
  const bool create = args.create && file_is_missing(args.path);
  if (create && options.layout.empty()) options.layout = default_layout;
  return open_pool(args.path, options,
                   create ? open_pool::how::create : open_pool::how::open_to_write);
}

std::string resume_command(const arguments& args) {
  std::string command = fmt::format("scute kv load {} {}", args.path, args.file);
  if (!args.name.empty()) command += " --name " + args.name;
  if (!args.format.empty()) command += " --format " + args.format;
  return command;
}

void print_summary(const arguments& args, const std::string& source, const load_result& result) {
  if (args.json) {
    print_json({{"path", args.path},
                {"source", source},
                {"resumed_at", result.resumed_at},
                {"loaded", result.loaded},
                {"added", result.added},
                {"replaced", result.loaded - result.added},
                {"records", result.state.records},
                {"offset", result.state.position.offset},
                {"transactions", result.transactions},
                {"seconds", result.seconds},
                {"complete", !result.interrupted}});
    return;
  }
  if (result.resumed_at > 0)
    fmt::print("resumed after {} records\n", count_text(result.resumed_at));
  fmt::print("loaded {} records ({} new, {} replaced) in {} transactions, {}\n",
             count_text(result.loaded), count_text(result.added),
             count_text(result.loaded - result.added), count_text(result.transactions),
             duration_text(result.seconds));
}

exit_code run(const arguments& args) {
  // Before the pool is opened, so that a signal from here on ends in a clean close.
  const interrupt stop;
  line_source source(args.file, stop.wake_fd());
  progress bar(args.quiet);
  open_pool pool = open_or_create(args, bar);
  kv_store store(pool, true);
  const std::string name = name_of_source(args);

  const load_result result = load(store, source,
                                  {.pool = args.path,
                                   .source = name,
                                   .format = format_of(args),
                                   .batch = args.batch,
                                   .restart = args.restart},
                                  stop, bar);
  bar.finish();
  pool.close();
  print_summary(args, name, result);
  if (!result.interrupted) return exit_ok;
  tell("scute: {}: interrupted after {} records; to go on there: {}\n", args.path,
       result.state.records, resume_command(args));
  return stop.code();
}

}  // namespace

void add_kv_load(CLI::App& kv, exit_code& status) {
  CLI::App* app = kv.add_subcommand("load", "Store many keys and values from a file");
  auto args = std::make_shared<arguments>();
  add_pool_path(*app, args->path);
  app->add_option("FILE", args->file, "the source; - is standard input")->required()->type_name("");
  app->add_option("--format", args->format,
                  "form of the lines (default json for .jsonl, .ndjson, .json, else tsv)")
      ->check(one_of({"tsv", "json"}))
      ->type_name("tsv|json");
  app->add_option("--batch", args->batch, "records per transaction (default 100)")
      ->transform(whole_number(1, 1000000))
      ->type_name("N");
  app->add_option("--name", args->name, "what to call the source when resuming (default its path)")
      ->type_name("NAME");
  app->add_flag("--restart", args->restart, "load from the start again");
  app->add_flag("--create", args->create, "make the pool if the file is not there");
  args->options.add_to(*app, pool_options::use::create);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "Lines are KEY<TAB>VALUE, with \\t \\n \\r \\0 \\\\ for tab, newline, return, NUL, "
      "backslash;\n"
      "or JSON: {\"key\": \"...\", \"value\": ...}, where a value that is no string keeps its "
      "JSON\n"
      "text. Empty lines are skipped. A key that is there already gets the new value.\n"
      "\n"
      "A load can be interrupted at any time, with Ctrl-C, kill -9 or by a power failure. The "
      "same\n"
      "command then goes on after the last transaction that was committed: the position is part\n"
      "of each transaction. A source that has grown is loaded from where it ended before; one "
      "that\n"
      "has changed before that is refused. Standard input is read again from its start, and what\n"
      "is loaded already is skipped.\n"
      "\nExamples:\n"
      "  scute kv load notes.pool notes.tsv\n"
      "  scute kv load notes.pool --create --size 1G events.jsonl --batch 1000\n"
      "  zcat big.tsv.gz | scute kv load notes.pool - --name big");
  app->callback([args, &status] { status = run(*args); });
}

}  // namespace scute_tool

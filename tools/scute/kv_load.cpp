// SPDX-License-Identifier: BSD-3-Clause
// kv_load.cpp: scute kv load PATH FILE|-
#include "command.hpp"
#include "failure.hpp"
#include "kv_store.hpp"
#include "load_flags.hpp"
#include "loader.hpp"
#include "made_file.hpp"
#include "options.hpp"
#include "output.hpp"
#include "standard_streams.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string>

namespace scute_tool {

namespace {

constexpr const char* default_layout = "scute-kv";

struct kv_load_arguments {
  std::string path;
  load_flags load;
  pool_options options;
  bool create = false;
};

bool file_is_missing(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) != 0 && errno == ENOENT;
}

// Of a pool that is there these are chosen already, and asking for others must not look as if it
// had helped.
void require_as_asked(const kv_load_arguments& args, const scute_info& is) {
  const scute_options o = args.options.resolve().native();
  const auto differs = [&](const char* name, uint64_t asked, uint64_t got,
                           const std::string& is_now) {
    if (asked != got)
      throw failure(exit_error, args.path,
                    fmt::format("--{} applies to a new pool, but this one exists already, with {}; "
                                "omit the option, or load into another file",
                                name, is_now));
  };
  const auto number = [](uint64_t n) { return std::to_string(n); };
  // The defaults ask for nothing.
  if (args.options.given("size")) differs("size", o.size, is.size, number(is.size));
  if (args.options.given("protection"))
    differs("protection", o.protection, is.protection, name_of(is.protection));
  if (args.options.given("checksum"))
    differs("checksum", o.checksum, is.checksum, name_of(is.checksum));
  if (args.options.given("engine") && o.engine != SCUTE_ENGINE_AUTO)
    differs("engine", o.engine, is.engine, name_of(is.engine));
  if (args.options.given("rows") && o.rows != 0) differs("rows", o.rows, is.rows, number(is.rows));
  if (args.options.given("parity") && o.parity != 0)
    differs("parity", o.parity, is.parity, number(is.parity));
  if (args.options.given("lanes") && o.lanes != 0)
    differs("lanes", o.lanes, is.lanes, number(is.lanes));
  if (args.options.given("chunk_size") && o.chunk_size != 0)
    differs("chunk-size", o.chunk_size, is.chunk_size, number(is.chunk_size));
  if (args.options.given("overwrite"))
    throw failure(exit_error, args.path,
                  "the pool exists already, and a load does not replace it; use `scute create "
                  "--overwrite` first, or omit --overwrite");
}

open_pool open_or_create(const kv_load_arguments& args, bool create, progress& bar) {
  scute::options options = args.options.resolve();
  options.progress = bar.callback();
  if (create && options.layout.empty()) options.layout = default_layout;
  return open_pool(args.path, options,
                   create ? open_pool::how::create : open_pool::how::open_to_write);
}

exit_code run_kv_load(const kv_load_arguments& args) {
  // Before the pool is opened, so that a signal from here on ends in a clean close.
  const interrupt stop;
  line_source source(args.load.file, stop.wake_fd());
  progress bar(args.load.quiet);
  const bool create = args.create && file_is_missing(args.path);
  open_pool pool = open_or_create(args, create, bar);
  if (!create) require_as_asked(args, pool.info());
  const made_file made(args.path), log(args.path + ".log");
  kv_store store(pool, true);
  const bool has_log_file = pool.info().log_file != 0;
  try {
    return args.load.run("scute kv load", args.path, store, source, stop, bar,
                         [&] { pool.close(); });
  } catch (const failure&) {
    // Under its lock: no other process has it by then.
    if (create && store.count({}) == 0) {
      made.remove();
      if (has_log_file) log.remove();
    }
    throw;
  }
}

}  // namespace

void add_kv_load(CLI::App& kv, exit_code& status) {
  CLI::App* app = kv.add_subcommand("load", "Store many keys and values from a file");
  auto args = std::make_shared<kv_load_arguments>();
  add_pool_path(*app, args->path);
  args->load.add_to(*app, "transaction");
  app->add_flag("--create", args->create, "create the pool if it does not exist");
  args->options.add_to(*app, pool_options::use::create);
  app->footer(
      "Lines are KEY<TAB>VALUE, with \\t \\n \\r \\0 \\\\ for tab, newline, return, NUL, "
      "backslash;\nor JSON: {\"key\": \"...\", \"value\": ...}, where a value that is no string "
      "keeps its JSON\ntext. Empty lines are skipped. An existing key gets the new value.\n\nA "
      "load can be interrupted at any time, with Ctrl-C, kill -9 or by a power failure. The "
      "same\ncommand then continues after the last transaction that was committed: the position is "
      "part\nof each transaction. A source that grew continues where it ended; a source that "
      "changed before\nthat point is refused. Standard input is read again from its start, and "
      "records\nthat are loaded already are skipped.\n\nExamples:\n  scute kv load notes.pool "
      "notes.tsv\n  scute kv load notes.pool --create --size 1G events.jsonl --batch 1000\n  zcat "
      "big.tsv.gz | scute kv load notes.pool - --name big");
  app->callback([args, &status] { status = run_kv_load(*args); });
}

}  // namespace scute_tool

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
#include "pool_facts.hpp"
#include "standard_streams.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// The library refuses what a pool that exists does not have, except where the default is asked for.
void require_default(const kv_load_arguments& args, const scute_info& is) {
  const scute::options asked = args.options.resolve();
  const auto differs = [&](const char* name, uint64_t wanted, uint64_t has,
                           const std::string& has_now) {
    if (args.options.given(name) && wanted != has)
      throw failure(exit_error, args.path,
                    fmt::format("has {} {}, and not the default as asked for; load without --{}, "
                                "or into another file",
                                name, has_now, name));
  };
  differs("size", asked.size, is.size, std::to_string(is.size));
  differs("checksum", static_cast<uint64_t>(asked.checksum), is.checksum, name_of(is.checksum));
}

open_pool open_or_create(const kv_load_arguments& args, bool create, progress& bar) {
  scute::options options =
      args.options.resolve(create ? pool_options::use::create : pool_options::use::open);
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
  if (!create) require_default(args, pool.info());
  if (create && !args.load.quiet && !args.options.given("preallocate"))
    warn_of_little_room(args.path, pool.info().size);
  kv_store store(pool, true);
  std::vector<made_file> made;
  if (create) made.emplace_back(args.path);
  if (create && pool.info().log_file != 0) made.emplace_back(args.path + ".log");
  try {
    return args.load.run("scute kv load", args.path, store, source, stop, bar,
                         [&] { pool.close(); });
  } catch (const failure&) {
    // Under its lock: no other process has it by then.
    if (create && store.count({}) == 0)
      for (const made_file& file : made) file.remove();
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

// SPDX-License-Identifier: BSD-3-Clause
// kv_scan.cpp: scute kv scan and scute kv count: ranges of keys.
#include "command.hpp"
#include "failure.hpp"
#include "kv_store.hpp"
#include "options.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace scute_tool {

namespace {

struct kv_scan_arguments {
  std::string path;
  pool_options options;
  scan_range range;
  bool keys_only = false;
  bool json = false;
};

void print_line(const std::string& line) {
  fmt::print("{}\n", line);
}

void scan(const kv_scan_arguments& args) {
  const open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_read);
  const record_format format = args.json ? record_format::json : record_format::tsv;
  kv_store(pool, false).scan(args.range, [&](std::string_view key, std::string_view value) {
    print_line(args.keys_only ? format_key(format, key) : format_record(format, key, value));
  });
}

void count(const kv_scan_arguments& args) {
  const open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_read);
  const kv_store store(pool, false);
  const uint64_t records = store.count(args.range);
  if (args.json)
    print_json({{"path", args.path}, {"records", records}});
  else
    fmt::print("{}\n", records);
}

}  // namespace

void add_kv_scan(CLI::App& kv, exit_code&) {
  CLI::App* app = kv.add_subcommand("scan", "Print keys and values in the order of the keys");
  auto args = std::make_shared<kv_scan_arguments>();
  add_pool_path(*app, args->path);
  add_scan_flags(*app, args->range, args->keys_only);
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  app->footer(
      "Prints KEY<TAB>VALUE lines, where \\t \\n \\r \\0 \\\\ stand for tab, newline, return, NUL\n"
      "and backslash; with --json a JSON object per line. `scute kv load` reads both.\n"
      "\nExamples:\n"
      "  scute kv scan notes.pool --prefix user/ --limit 10\n"
      "  scute kv scan notes.pool --from m --to n --reverse\n"
      "  scute kv scan notes.pool --json | jq -r .key");
  app->callback([args] { scan(*args); });
}

void add_kv_count(CLI::App& kv, exit_code&) {
  CLI::App* app = kv.add_subcommand("count", "Print how many keys there are");
  auto args = std::make_shared<kv_scan_arguments>();
  add_pool_path(*app, args->path);
  add_range_flags(*app, args->range);
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  app->footer(
      "Examples:\n"
      "  scute kv count notes.pool\n"
      "  scute kv count notes.pool --prefix user/");
  app->callback([args] { count(*args); });
}

}  // namespace scute_tool

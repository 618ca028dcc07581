// SPDX-License-Identifier: BSD-3-Clause
// kv_scan.cpp: scute pow kv scan and scute pow kv count: ranges of keys.
#include "pow/kv_map.hpp"

#include "command.hpp"
#include "output.hpp"
#include "record_format.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace scute_tool {

namespace {

struct pow_kv_scan_arguments {
  std::string path;
  store_flags flags;
  scan_range range;
  bool keys_only = false;
  bool json = false;
};

void scan(const pow_kv_scan_arguments& args) {
  store_file file(args.path, args.flags, store_file::how::read, nullptr);
  const record_format format = args.json ? record_format::json : record_format::tsv;
  kv_map(file, false).scan(args.range, [&](std::string_view key, std::string_view value) {
    fmt::print("{}\n",
               args.keys_only ? format_key(format, key) : format_record(format, key, value));
  });
}

void count(const pow_kv_scan_arguments& args) {
  store_file file(args.path, args.flags, store_file::how::read, nullptr);
  uint64_t records = 0;
  kv_map(file, false).scan(args.range, [&](std::string_view, std::string_view) { ++records; });
  if (args.json)
    print_json({{"path", args.path}, {"records", records}});
  else
    fmt::print("{}\n", records);
}

}  // namespace

void add_pow_kv_scan(CLI::App& kv, exit_code&) {
  CLI::App* app = kv.add_subcommand("scan", "Print keys and values in the order of the keys");
  auto args = std::make_shared<pow_kv_scan_arguments>();
  add_pool_path(*app, args->path);
  add_scan_flags(*app, args->range, args->keys_only);
  args->flags.add_salvage(*app);
  args->flags.add_to(*app, false);
  add_json_flag(*app, args->json);
  app->footer(
      "Prints what `scute kv scan` prints of a pool, and `scute pow kv load` reads.\n"
      "\nExamples:\n"
      "  scute pow kv scan notes.pow --prefix user/ --limit 10\n"
      "  scute pow kv scan notes.pow --json | jq -r .key");
  app->callback([args] { scan(*args); });
}

void add_pow_kv_count(CLI::App& kv, exit_code&) {
  CLI::App* app = kv.add_subcommand("count", "Print how many keys there are");
  auto args = std::make_shared<pow_kv_scan_arguments>();
  add_pool_path(*app, args->path);
  add_range_flags(*app, args->range);
  args->flags.add_to(*app, false);
  add_json_flag(*app, args->json);
  app->footer(
      "\nExample:\n"
      "  scute pow kv count notes.pow --prefix user/");
  app->callback([args] { count(*args); });
}

}  // namespace scute_tool

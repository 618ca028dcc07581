// SPDX-License-Identifier: BSD-3-Clause
// kv.cpp: scute kv: the group, and its one-key commands put, get, del.
#include "command.hpp"
#include "failure.hpp"
#include "kv_store.hpp"
#include "options.hpp"
#include "output.hpp"
#include "standard_input.hpp"
#include "standard_streams.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

namespace scute_tool {

namespace {

struct kv_arguments {
  std::string path;
  std::string key;
  std::string value;
  pool_options options;
  bool raw = false;
  bool json = false;
};

CLI::App* add_key_command(CLI::App& kv, const std::string& name, const std::string& help,
                          kv_arguments& args) {
  CLI::App* app = kv.add_subcommand(name, help);
  add_pool_path(*app, args.path);
  app->add_option("KEY", args.key, "the key")->required()->type_name("");
  args.options.add_to(*app, pool_options::use::open);
  return app;
}

void put(const kv_arguments& args, bool from_stdin) {
  // Read first: the pool stays locked no longer than the change takes.
  const std::string value = from_stdin ? read_standard_input() : args.value;
  open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_write);
  kv_store(pool, true).put(args.key, value);
  pool.close();
}

exit_code get(const kv_arguments& args) {
  const open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_read);
  const std::optional<std::string> value = kv_store(pool, false).get(args.key);
  if (!value) {
    print_error("scute: {}: there is no key \"{}\"\n", args.path, args.key);
    return exit_not_found;
  }
  if (args.json)
    fmt::print("{}\n", format_record(record_format::json, args.key, *value));
  else
    fmt::print("{}{}", *value, args.raw ? "" : "\n");
  return exit_ok;
}

exit_code del(const kv_arguments& args) {
  open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_write);
  const bool erased = kv_store(pool, true).erase(args.key);
  pool.close();
  if (erased) return exit_ok;
  print_error("scute: {}: there is no key \"{}\"\n", args.path, args.key);
  return exit_not_found;
}

}  // namespace

void add_kv(CLI::App& root, exit_code& status) {
  CLI::App* kv = root.add_subcommand("kv", "Keep sorted keys and values in a pool");
  kv->require_subcommand(1);
  kv->footer(
      "Keys and values are strings of any bytes; keys are sorted bytewise. An empty\npool becomes "
      "a key-value store with the first put or load.\n\nExamples:\n  scute kv load notes.pool "
      "--create notes.tsv\n  scute kv get notes.pool milk\n  scute kv scan notes.pool --prefix "
      "user/ --limit 10");
  add_kv_put(*kv, status);
  add_kv_get(*kv, status);
  add_kv_del(*kv, status);
  add_kv_scan(*kv, status);
  add_kv_load(*kv, status);
  add_kv_count(*kv, status);
}

void add_kv_put(CLI::App& kv, exit_code&) {
  auto args = std::make_shared<kv_arguments>();
  CLI::App* app = add_key_command(kv, "put", "Store a value under a key", *args);
  const CLI::Option* value =
      app->add_option("VALUE", args->value, "the value; without it, all of standard input")
          ->type_name("");
  app->footer(
      "Replaces the value of an existing key. Put -- before a key or value that starts with "
      "-.\n\nExamples:\n  scute kv put notes.pool milk \"2 litres\"\n  scute kv put notes.pool "
      "logo < logo.png\n  scute kv put notes.pool -- -1 \"minus one\"");
  app->callback([args, value] { put(*args, value->count() == 0); });
}

void add_kv_get(CLI::App& kv, exit_code& status) {
  auto args = std::make_shared<kv_arguments>();
  CLI::App* app = add_key_command(kv, "get", "Print the value of a key", *args);
  app->add_flag("--raw", args->raw, "print the value's bytes only, without a newline after them");
  add_json_flag(*app, args->json);
  app->footer(
      "Verifies the value's checksum. Exit status 4: there is no such key.\n"
      "\nExamples:\n"
      "  scute kv get notes.pool milk\n"
      "  scute kv get notes.pool logo --raw > logo.png");
  app->callback([args, &status] { status = get(*args); });
}

void add_kv_del(CLI::App& kv, exit_code& status) {
  auto args = std::make_shared<kv_arguments>();
  CLI::App* app = add_key_command(kv, "del", "Remove a key and its value", *args);
  app->footer(
      "Exit status 4: there is no such key.\n"
      "\nExample:\n"
      "  scute kv del notes.pool milk");
  app->callback([args, &status] { status = del(*args); });
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
// kv.cpp: scute pow kv put, get, del.
#include "pow/kv_map.hpp"

#include "command.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "standard_input.hpp"
#include "standard_streams.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace scute_tool {

namespace {

struct pow_kv_arguments {
  std::string path;
  std::string key;
  std::string value;
  store_flags flags;
  bool create = false;
  bool raw = false;
  bool json = false;
};

CLI::App* add_key_command(CLI::App& kv, const std::string& name, const std::string& help,
                          pow_kv_arguments& args, bool create = false) {
  CLI::App* app = kv.add_subcommand(name, help);
  add_pool_path(*app, args.path);
  app->add_option("KEY", args.key, "the key")->required()->type_name("");
  args.flags.add_to(*app, create);
  return app;
}

void put(const pow_kv_arguments& args, bool from_stdin) {
  const std::string value = from_stdin ? read_standard_input() : args.value;
  store_file file(args.path, args.flags,
                  args.create ? store_file::how::create : store_file::how::write, nullptr);
  kv_map(file, true).put(args.key, value);
  file.close();
}

exit_code get(const pow_kv_arguments& args) {
  store_file file(args.path, args.flags, store_file::how::read, nullptr);
  const kv_map all(file, false);
  const std::string* const value = all.get(args.key);
  if (value == nullptr) {
    print_error("scute: {}: there is no key \"{}\"\n", args.path, args.key);
    return exit_not_found;
  }
  if (args.json)
    fmt::print("{}\n", format_record(record_format::json, args.key, *value));
  else
    fmt::print("{}{}", *value, args.raw ? "" : "\n");
  return exit_ok;
}

exit_code del(const pow_kv_arguments& args) {
  store_file file(args.path, args.flags, store_file::how::write, nullptr);
  const bool erased = kv_map(file, true).erase(args.key);
  file.close();
  if (erased) return exit_ok;
  print_error("scute: {}: there is no key \"{}\"\n", args.path, args.key);
  return exit_not_found;
}

}  // namespace

void add_pow_kv_put(CLI::App& kv, exit_code&) {
  auto args = std::make_shared<pow_kv_arguments>();
  CLI::App* app = add_key_command(kv, "put", "Store a value under a key", *args, true);
  const CLI::Option* value =
      app->add_option("VALUE", args->value, "the value; without it, all of standard input")
          ->type_name("");
  app->add_flag("--create", args->create, "create the file if it does not exist");
  app->footer(
      "Durable when the command ends. Put -- before a key or value that starts with -.\n"
      "\nExamples:\n"
      "  scute pow kv put notes.pow --create milk \"2 litres\"\n"
      "  scute pow kv put notes.pow logo < logo.png");
  app->callback([args, value] { put(*args, value->count() == 0); });
}

void add_pow_kv_get(CLI::App& kv, exit_code& status) {
  auto args = std::make_shared<pow_kv_arguments>();
  CLI::App* app = add_key_command(kv, "get", "Print the value of a key", *args);
  app->add_flag("--raw", args->raw, "print the value's bytes only, without a newline after them");
  args->flags.add_salvage(*app);
  add_json_flag(*app, args->json);
  app->footer(
      "Exit status 4: there is no such key.\n"
      "\nExamples:\n"
      "  scute pow kv get notes.pow milk\n"
      "  scute pow kv get notes.pow logo --raw > logo.png");
  app->callback([args, &status] { status = get(*args); });
}

void add_pow_kv_del(CLI::App& kv, exit_code& status) {
  auto args = std::make_shared<pow_kv_arguments>();
  CLI::App* app = add_key_command(kv, "del", "Remove a key and its value", *args);
  app->footer(
      "Exit status 4: there is no such key.\n"
      "\nExample:\n"
      "  scute pow kv del notes.pow milk");
  app->callback([args, &status] { status = del(*args); });
}

}  // namespace scute_tool

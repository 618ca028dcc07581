// SPDX-License-Identifier: BSD-3-Clause
// dump.cpp: scute dump PATH: what the file holds, in a form that tests can compare.
#include "command.hpp"
#include "dump_view.hpp"
#include "failure.hpp"
#include "inventory.hpp"
#include "options.hpp"

#include <memory>

namespace scute_tool {

namespace {

struct dump_arguments {
  std::string path;
  pool_options options;
  bool chunks = false;
  bool objects = false;
  bool regions = false;
  bool hex = false;
  bool stable = false;
  bool json = false;
  std::string type;
};

void run_dump(const dump_arguments& args) {
  const open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_read);
  const bool wants_objects = args.objects || args.hex || !args.type.empty();
  const bool wants_all = !args.chunks && !wants_objects && !args.regions;
  const dump_contents contents{
      .pool = wants_all,
      .regions = args.regions,
      .chunks = args.chunks || wants_all,
      .objects = wants_objects || wants_all,
      .hex = args.hex,
      .stable = args.stable,
      .type = args.type.empty() ? SCUTE_TYPE_ANY : parse_type(args.type),
  };
  if (args.json)
    dump_as_json(pool, contents);
  else
    dump_as_text(pool, contents);
}

}  // namespace

void add_dump(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("dump", "Show the inside of a pool: chunks, objects, bytes");
  auto args = std::make_shared<dump_arguments>();
  add_pool_path(*app, args->path);
  app->add_flag("--chunks", args->chunks, "the chunks in use");
  app->add_flag("--objects", args->objects, "the live objects");
  app->add_flag("--regions", args->regions, "the use of every page of the file");
  app->add_flag("--hex", args->hex, "the live objects with their bytes");
  app->add_option("--type", args->type, "only objects of this type: a number or a C++ type's name")
      ->type_name("TYPE");
  app->add_flag("--stable", args->stable,
                "omit the differences between equally made pools (uuid, tag, medium)");
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  app->footer(
      "Without --chunks, --objects, --regions, --hex or --type: geometry, chunks and objects.\n"
      "Objects are named by the file offset of their first byte. Opens the pool read-only.\n"
      "\nExamples:\n"
      "  scute dump notes.pool\n"
      "  scute dump notes.pool --hex --type 7\n"
      "  scute dump notes.pool --regions --json");
  app->callback([args] { run_dump(*args); });
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
// create.cpp: scute create PATH
#include "command.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "pool_facts.hpp"
#include "progress.hpp"

#include <memory>
#include <string>

namespace scute_tool {

namespace {

struct create_arguments {
  std::string path;
  pool_options options;
  bool json = false;
  bool quiet = false;
};

void run_create(const create_arguments& args) {
  progress bar(args.quiet);
  scute::options options = args.options.resolve();
  options.progress = bar.callback();
  open_pool pool(args.path, options, open_pool::how::create);
  bar.finish();
  const scute_info info = pool.info();
  pool.close();
  if (args.json)
    print_json(geometry_json(args.path, info));
  else if (!args.quiet)
    geometry_facts(args.path, info).print();
  if (!args.quiet && !options.preallocate) warn_of_little_room(args.path, info.size);
}

}  // namespace

void add_create(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("create", "Make a pool file");
  auto args = std::make_shared<create_arguments>();
  add_pool_path(*app, args->path);
  args->options.add_to(*app, pool_options::use::create);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet, "print nothing but errors, and JSON with --json");
  app->footer(
      "The file is sparse unless --preallocate is given. An existing file stays untouched, "
      "unless\nit is a pool and --overwrite is given. If PATH is a symbolic link, the pool that it "
      "leads to is\nreplaced, and the link stays. Prints the choices.\n\nExamples:\n  scute create "
      "/dev/shm/notes.pool\n  scute create /mnt/pmem/db.pool --size 16G --layout orders "
      "--preallocate\n  scute create data.pool --size 256M --medium file --protection mlp --rows "
      "20");
  app->callback([args] { run_create(*args); });
}

}  // namespace scute_tool

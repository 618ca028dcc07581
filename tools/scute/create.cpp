// SPDX-License-Identifier: BSD-3-Clause
// create.cpp: scute create PATH
#include "command.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "pool_facts.hpp"
#include "progress.hpp"

#include <memory>

namespace scute_tool {

namespace {

struct arguments {
  std::string path;
  pool_options options;
  bool json = false;
  bool quiet = false;
};

void run(const arguments& args) {
  progress bar(args.quiet);
  scute::options options = args.options.resolve();
  options.progress = bar.callback();
  open_pool pool(args.path, options, open_pool::how::create);
  bar.finish();
  const scute_info info = pool.info();
  pool.close();
  if (args.json)
    print_json(geometry_json(args.path, info));
  else
    geometry_facts(args.path, info).print();
}

}  // namespace

void add_create(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("create", "Make a pool file");
  auto args = std::make_shared<arguments>();
  add_pool_path(*app, args->path);
  args->options.add_to(*app, pool_options::use::create);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "The file is sparse unless --preallocate is given. An existing file stays untouched, unless\n"
      "it is a pool and --overwrite is given; at the end of a symbolic link, which stays. Prints "
      "what\n"
      "was chosen.\n"
      "\nExamples:\n"
      "  scute create /dev/shm/notes.pool\n"
      "  scute create /mnt/pmem/db.pool --size 16G --layout orders --preallocate\n"
      "  scute create data.pool --size 256M --medium file --protection mlp --rows 20");
  app->callback([args] { run(*args); });
}

}  // namespace scute_tool

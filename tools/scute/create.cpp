// SPDX-License-Identifier: BSD-3-Clause
// create.cpp: scute create PATH
#include "command.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "pool_facts.hpp"
#include "progress.hpp"
#include "standard_streams.hpp"
#include "text.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
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

// A sparse file may be larger than the free space; that shows only when it is used.
void warn_of_little_room(const std::string& path, uint64_t size) {
  struct statvfs fs{};
  struct stat file{};
  if (::statvfs(path.c_str(), &fs) != 0 || ::stat(path.c_str(), &file) != 0) return;
  const uint64_t has = static_cast<uint64_t>(file.st_blocks) * 512;
  const uint64_t free = static_cast<uint64_t>(fs.f_bavail) * fs.f_frsize;
  if (size - std::min(size, has) <= free) return;
  print_error(
      "scute: {}: the file system has {} free, which is less than this pool of {} may use; make "
      "room there, or choose a smaller --size (--preallocate reserves all of it now)\n",
      path, size_text(free), size_text(size));
}

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

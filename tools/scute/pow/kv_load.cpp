// SPDX-License-Identifier: BSD-3-Clause
// kv_load.cpp: scute pow kv load PATH FILE|-
#include "command.hpp"
#include "failure.hpp"
#include "load_flags.hpp"
#include "loader.hpp"
#include "made_file.hpp"
#include "output.hpp"
#include "pow/kv_map.hpp"
#include "standard_streams.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace scute_tool {

namespace {

struct pow_kv_load_arguments {
  std::string path;
  load_flags load;
  store_flags flags;
  bool create = false;
};

exit_code run_pow_kv_load(const pow_kv_load_arguments& args) {
  // Before the file is opened, so that a signal from here on ends in a clean close.
  const interrupt stop;
  line_source source(args.load.file, stop.wake_fd());
  progress bar(args.load.quiet);
  store_file file(args.path, args.flags,
                  args.create ? store_file::how::create : store_file::how::write, &bar);
  std::optional<made_file> made;
  if (file.is_new()) made.emplace(args.path);
  std::optional<kv_map> all;
  try {
    all.emplace(file, true);
    return args.load.run("scute pow kv load", args.path, *all, source, stop, bar,
                         [&] { file.close(); });
  } catch (const failure&) {
    if (made && (!all || all->is_empty())) made->remove();
    throw;
  }
}

}  // namespace

void add_pow_kv_load(CLI::App& kv, exit_code& status) {
  CLI::App* app = kv.add_subcommand("load", "Store many keys and values from a file");
  auto args = std::make_shared<pow_kv_load_arguments>();
  add_pool_path(*app, args->path);
  args->load.add_to(*app, "section");
  app->add_flag("--create", args->create, "create the file if it does not exist");
  args->flags.add_to(*app, true);
  app->footer(
      "Lines are those of `scute kv load`. A load can be interrupted at any time, with Ctrl-C,\n"
      "kill -9 or by a power failure; the same command then continues after the last section\n"
      "that was committed.\n"
      "\nExamples:\n"
      "  scute pow kv load notes.pow --create notes.tsv\n"
      "  zcat big.tsv.gz | scute pow kv load notes.pow - --name big --batch 1000");
  app->callback([args, &status] { status = run_pow_kv_load(*args); });
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
// engine.cpp: scute engine PATH [ENGINE]: which engine a pool has, and another one for it.
#include "command.hpp"
#include "failure.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace scute_tool {

namespace {

struct engine_arguments {
  std::string path;
  pool_options options;
  std::string to;  // empty: none
  bool json = false;
};

scute_engine engine_of(const engine_arguments& args) {
  scute::options options = args.options.resolve();
  options.log_cap = 0;  // of the next one
  const open_pool pool(args.path, options, open_pool::how::open_to_read);
  return pool.info().engine;
}

constexpr scute_engine engines[] = {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC};

exit_code run_engine(const engine_arguments& args) {
  const scute_engine before = engine_of(args);
  scute_engine now = before;
  for (const scute_engine e : engines)
    if (args.to == name_of(e)) now = e;
  if (!args.to.empty())
    working_on(args.path, [&] {
      scute::pool::set_engine(failure::library_path(args.path), static_cast<scute::engine>(now),
                              args.options.resolve());
    });
  if (args.json)
    print_json({{"path", args.path}, {"engine", name_of(now)}, {"engine_before", name_of(before)}});
  else if (now == before)
    fmt::print("{}\n", name_of(now));
  else
    fmt::print("{} (was {})\n", name_of(now), name_of(before));
  return exit_ok;
}

}  // namespace

void add_engine(CLI::App& root, exit_code& status) {
  CLI::App* app = root.add_subcommand("engine", "Show or change the engine of a pool");
  auto args = std::make_shared<engine_arguments>();
  add_pool_path(*app, args->path);
  app->add_option("ENGINE", args->to, "redo, logfree or spec; without it nothing is changed")
      ->check(one_of(
          {name_of(SCUTE_ENGINE_REDO), name_of(SCUTE_ENGINE_LOGFREE), name_of(SCUTE_ENGINE_SPEC)}))
      ->type_name("");
  args->options.add_to(*app, pool_options::use::switch_engine);
  add_json_flag(*app, args->json);
  app->footer(
      "Objects do not change. No process may have the pool open; after a crash recovery runs "
      "first.\n"
      "With --log-cap a pool of engine spec gets a log of another size.\n"
      "\nExamples:\n"
      "  scute engine notes.pool\n"
      "  scute engine notes.pool spec");
  app->callback([args, &status] { status = run_engine(*args); });
}

}  // namespace scute_tool

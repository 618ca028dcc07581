// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "output.hpp"

#include <scute/scute.h>

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

void add_version(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("version", "Print the version");
  auto wants_json = std::make_shared<bool>(false);
  add_json_flag(*app, *wants_json);
  app->footer("Example:\n  scute version --json");
  app->callback([wants_json] {
    if (*wants_json)
      print_json({{"version", scute_version()}});
    else
      fmt::print("scute {}\n", scute_version());
  });
}

}  // namespace scute_tool

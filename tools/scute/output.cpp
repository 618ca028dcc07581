// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include "command.hpp"
#include "sidecar.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace scute_tool {

void print_json(const json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
}

CLI::Validator one_of(const std::vector<std::string>& values) {
  return CLI::Validator(
      [values](const std::string& text) {
        const auto last = values.end() - 1;
        return std::find(values.begin(), values.end(), text) != values.end()
                   ? std::string()
                   : fmt::format("\"{}\" is not {} or {}", text,
                                 fmt::join(values.begin(), last, ", "), *last);
      },
      "");
}

void add_pool_path(CLI::App& app, std::string& path) {
  const auto empty = [](const std::string& given) {
    return given.empty() ? "the path is empty; name the pool file" : "";
  };
  if (app.get_parent() == nullptr || app.get_parent()->get_name() != shield_name) {
    app.add_option("PATH", path, "the pool file")->required()->type_name("")->check(empty);
    return;
  }
  const auto sidecar = [](std::string& given) -> std::string {
    const std::string beside = protection_of(given);
    if (beside.empty()) return given + " is not shielded; see `scute shield add`";
    given = beside;
    return {};
  };
  app.add_option("FILE", path, "the shielded file")
      ->required()
      ->type_name("")
      ->transform(CLI::Validator(sidecar, ""));
}

void add_json_flag(CLI::App& app, bool& wanted) {
  app.add_flag("--json", wanted, "print JSON for programs");
}

void add_quiet_flag(CLI::App& app, bool& wanted, const char* meaning) {
  app.add_flag("-q,--quiet", wanted, meaning);
}

}  // namespace scute_tool

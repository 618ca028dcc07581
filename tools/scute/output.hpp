// SPDX-License-Identifier: BSD-3-Clause
// output.hpp: JSON on stdout, and the flags that most commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace scute_tool {

using json = nlohmann::ordered_json;

// Bytes that are not UTF-8 (in a path, in a message) become U+FFFD.
void print_json(const json& document);

// For options whose type_name() says already what they take. At least two values.
CLI::Validator one_of(const std::vector<std::string>& values);

void add_pool_path(CLI::App& app, std::string& path);
void add_json_flag(CLI::App& app, bool& wanted);
void add_quiet_flag(CLI::App& app, bool& wanted, const char* meaning = "no progress on stderr");

}  // namespace scute_tool

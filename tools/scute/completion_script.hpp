// SPDX-License-Identifier: BSD-3-Clause
// completion_script.hpp: a command tree as completion scripts.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace scute_tool {

struct completion_word {
  std::string word;
  std::string help;
};

struct completion_option {
  std::vector<std::string> names;  // "--json", "-q"
  std::string help;
  bool takes_value = false;
  std::vector<std::string> choices;  // of the value; empty: anything
};

// A command or group of commands: "scute", "scute kv", "scute kv get".
struct completion_level {
  std::string path;
  std::vector<completion_word> commands;
  std::vector<completion_option> options;
  std::vector<std::string> arguments;  // choices for a positional argument; empty: a file
};

std::vector<completion_level> completion_levels(const CLI::App& root);

std::string bash_completion(const std::vector<completion_level>& levels);
std::string zsh_completion(const std::vector<completion_level>& levels);
std::string fish_completion(const std::vector<completion_level>& levels);

}  // namespace scute_tool

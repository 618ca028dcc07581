// SPDX-License-Identifier: BSD-3-Clause
// completion.cpp: scute completion bash|zsh|fish. The scripts
// are written from the same definitions that parse the command line, so they always match it.
#include "command.hpp"
#include "completion_script.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace scute_tool {

void add_completion(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}))
      ->type_name("bash|zsh|fish");
  app->footer(
      "Examples:\n"
      "  scute completion bash > ~/.local/share/bash-completion/completions/scute\n"
      "  scute completion zsh > \"${fpath[1]}/_scute\"\n"
      "  scute completion fish > ~/.config/fish/completions/scute.fish");
  app->callback([shell, &root] {
    const std::vector<completion_level> levels = completion_levels(root);
    if (*shell == "bash")
      fmt::print("{}", bash_completion(levels));
    else if (*shell == "zsh")
      fmt::print("{}", zsh_completion(levels));
    else
      fmt::print("{}", fish_completion(levels));
  });
}

}  // namespace scute_tool

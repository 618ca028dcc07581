// SPDX-License-Identifier: BSD-3-Clause
// options.hpp: the command's flags for scute::options. Flags, SCUTE_* variables and fields have the
// same names; a flag wins over the environment, which wins over the default.
#pragma once

#include <scute/options.hpp>

#include <CLI/CLI.hpp>

#include <deque>
#include <string>

namespace scute_tool {

class pool_options {
 public:
  enum class use { open, create, switch_engine, shield };

  // Adds the flags that matter for opening, or for creating or another engine too.
  void add_to(CLI::App& app, use how);

  // Was this option ("size") given as a flag?
  bool given(const std::string& name) const;
  // Was any?
  bool any_given() const;

  // The environment's options of new pools count for `create` and `shield` alone. Throws failure.
  scute::options resolve() const { return resolve(use_); }
  scute::options resolve(use how) const;

 private:
  struct flag {
    std::string name;
    std::string value;
    CLI::Option* option;
  };
  use use_ = use::open;
  std::deque<flag> flags_;  // CLI11 keeps addresses of the values
};

}  // namespace scute_tool

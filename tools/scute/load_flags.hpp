// SPDX-License-Identifier: BSD-3-Clause
// load_flags.hpp: what `scute kv load` and `scute pow kv
// load` have in common: the source, and how it is read.
#pragma once

#include "exit_code.hpp"
#include "loader.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace scute_tool {

struct load_flags {
  std::string file;
  std::string name;
  std::string format;
  uint64_t batch = 100;
  bool restart = false;
  bool json = false;
  bool quiet = false;

  // unit: what a batch is committed in.
  void add_to(CLI::App& app, const std::string& unit);
  load_plan plan(const std::string& path, line_source& from) const;
  std::string resume_command(const std::string& command, const std::string& path) const;
  // Loads into `to`, closes what that is, and says what came of it. command: that continues after
  // an interruption.
  exit_code run(const std::string& command, const std::string& path, record_sink& to,
                line_source& source, const interrupt& stop, progress& bar,
                const std::function<void()>& close) const;

 private:
  // Under which the position is kept: the same file is found again from any folder, and standard
  // input or a pipe by how it begins, so that two of them are two sources.
  std::string source_name(const line_source& from, std::string_view first) const;
  void print_summary(const load_plan& plan, const load_result& result) const;
};

}  // namespace scute_tool

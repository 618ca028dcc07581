// SPDX-License-Identifier: BSD-3-Clause
// kv_range.hpp: which keys of a sorted map are wanted.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace scute_tool {

struct scan_range {
  std::string prefix;               // of the keys; empty: any
  std::optional<std::string> from;  // first key
  std::optional<std::string> to;    // first key that is not wanted any more
  bool reverse = false;
  uint64_t limit = UINT64_MAX;
};

// The least key that is greater than all that are wanted, if there is one.
std::optional<std::string> end_of(const scan_range& range);

// --prefix, --from, --to
void add_range_flags(CLI::App& app, scan_range& range);
// Those, and --limit, --reverse, --keys.
void add_scan_flags(CLI::App& app, scan_range& range, bool& keys_only);

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
#include "kv_range.hpp"

#include "numbers.hpp"

#include <utility>

namespace scute_tool {

namespace {

// The least string that is greater than all that start with this, if there is one.
std::optional<std::string> end_of_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  ++prefix.back();
  return prefix;
}

}  // namespace

std::optional<std::string> end_of(const scan_range& range) {
  std::optional<std::string> last = end_of_prefix(range.prefix);
  if (range.to && (!last || *range.to < *last)) last = range.to;
  return last;
}

void add_range_flags(CLI::App& app, scan_range& range) {
  app.add_option("--prefix", range.prefix, "only keys that start with this")->type_name("TEXT");
  app.add_option_function<std::string>(
         "--from", [&range](const std::string& key) { range.from = key; },
         "only keys at or after this one")
      ->type_name("KEY");
  app.add_option_function<std::string>(
         "--to", [&range](const std::string& key) { range.to = key; }, "only keys before this one")
      ->type_name("KEY");
}

void add_scan_flags(CLI::App& app, scan_range& range, bool& keys_only) {
  add_range_flags(app, range);
  app.add_option("--limit", range.limit, "at most this many")
      ->transform(whole_number())
      ->type_name("N");
  app.add_flag("--reverse", range.reverse, "from the last key to the first");
  app.add_flag("--keys", keys_only, "the keys only");
}

}  // namespace scute_tool

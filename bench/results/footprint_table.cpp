// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "results/results.hpp"

namespace scute::bench {
namespace {

struct cell {
  const char* name;
  workloads::transaction_sizes footprint::* of;
  double workloads::transaction_sizes::* bytes;
  double workloads::transaction_sizes::* objects;
};

using sizes = workloads::transaction_sizes;
constexpr cell cells[] = {
    {"insert, new", &footprint::insert, &sizes::new_bytes, &sizes::new_objects},
    {"insert, modified", &footprint::insert, &sizes::modified_bytes, &sizes::modified_objects},
    {"remove, new", &footprint::remove, &sizes::new_bytes, &sizes::new_objects},
    {"remove, modified", &footprint::remove, &sizes::modified_bytes, &sizes::modified_objects}};

}  // namespace

std::string footprint_table(const std::vector<row>& rows, style s) {
  std::vector<std::vector<std::string>> lines{{""}, {"object"}};
  for (const cell& c : cells) lines.push_back({c.name});
  for (const row& r : rows) {
    if (!r.sizes) continue;
    lines[0].push_back(r.structure);
    lines[1].push_back(human_size(r.size));
    for (size_t i = 0; i < std::size(cells); ++i) {
      const sizes& of = *r.sizes.*cells[i].of;
      lines[2 + i].push_back(
          fmt::format("{:.4g} ({:.2f})", of.*cells[i].bytes, of.*cells[i].objects));
    }
  }
  if (lines[0].size() == 1) return "";
  const char* const head = "table3, bytes (objects) per transaction";
  return (s == style::markdown ? std::string("### ") + head : std::string(head)) + "\n\n" +
         render(lines, s) + "\n";
}

}  // namespace scute::bench

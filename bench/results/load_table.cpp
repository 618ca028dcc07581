// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "results/results.hpp"
#include "workloads/stamp/applications.hpp"

namespace scute::bench {
namespace {

double updates_each(const workloads::stamp::load& l) {
  return static_cast<double>(l.updates) / static_cast<double>(l.transactions);
}

}  // namespace

std::string load_table(const std::vector<row>& rows, style s) {
  std::vector<std::vector<std::string>> lines{
      {"", "transactions", "changed bytes each", "updates each", "new bytes each",
       "paper: transactions", "bytes each", "updates each"}};
  for (const row& r : rows) {
    if (!r.load) continue;
    for (const auto& a : workloads::stamp::applications()) {
      if (r.structure != a.name) continue;
      std::vector<std::string> line{r.structure};
      const auto add = [&line](const workloads::stamp::load& l) {
        line.push_back(fmt::format("{}", l.transactions));
        line.push_back(fmt::format("{:.4g}", l.bytes));
        line.push_back(fmt::format("{:.3g}", updates_each(l)));
      };
      add(*r.load);
      line.push_back(fmt::format("{:.4g}", r.load->new_bytes));
      add(a.paper);
      lines.push_back(line);
    }
  }
  if (lines.size() == 1) return "";
  const char* const head = "stamp_load, compared with Table 2 of SpecPMT";
  return (s == style::markdown ? std::string("### ") + head : std::string(head)) + "\n\n" +
         render(lines, s) + "\n";
}

}  // namespace scute::bench

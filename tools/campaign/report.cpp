// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

namespace scute_campaign {

namespace {

// Values of one property, each once, in the order of the grid.
template <typename T>
std::vector<T> values(const std::vector<cell_report>& reports, T cell::* which) {
  std::vector<T> all;
  for (const auto& r : reports)
    if (std::find(all.begin(), all.end(), r.where.*which) == all.end())
      all.push_back(r.where.*which);
  return all;
}

std::string percent(const settings& how, const cell_result& r) {
  if (r.trials == 0) return "-";
  const auto part = [&](uint32_t n) { return fmt::format("{:.0f}", 100.0 * n / r.trials); };
  return how.shielded ? part(r.all_back) + "/" + part(r.within) : part(r.all_back);
}

void print_level(const settings& how, scute_protection level,
                 const std::vector<cell_report>& reports) {
  const auto rates = values(reports, &cell::rate);
  fmt::print("{}: trials in which every {}, in %\n  {:<14}",
             level_names[static_cast<size_t>(level)],
             how.shielded ? "page came back / that the redundancy covers byte by byte"
                          : "object came back",
             "");
  for (const double rate : rates) fmt::print("{:>8.0e}", rate);
  fmt::print("\n");
  for (const uint32_t rows : values(reports, &cell::rows))
    for (const uint32_t bits : values(reports, &cell::bits)) {
      std::map<double, const cell_result*> line;
      for (const auto& r : reports)
        if (r.where.level == level && r.where.rows == rows && r.where.bits == bits)
          line[r.where.rate] = &r.result;
      if (line.empty()) continue;
      fmt::print("  N {:<4} {:>2} bit{} ", rows, bits, bits == 1 ? " " : "s");
      for (const double rate : rates)
        fmt::print("{:>8}", line.count(rate) != 0 ? percent(how, *line[rate]) : "");
      fmt::print("\n");
    }
}

cell_result sum(const std::vector<cell_report>& reports, scute_protection level) {
  cell_result all{};
  for (const auto& [where, r] : reports) {
    if (where.level != level) continue;
    all.trials += r.trials;
    all.all_back += r.all_back;
    all.all_survivable += r.all_survivable;
    all.within += r.within;
    all.within_back += r.within_back;
    all.refused_opens += r.refused_opens;
    all.broken += r.broken;
    all.errors += r.errors;
    all.errors_beside += r.errors_beside;
    all.objects += r.objects;
    all.right += r.right;
    all.refused += r.refused;
    all.unchecked += r.unchecked;
    all.silent += r.silent;
    all.survivable += r.survivable;
    all.saved_besides += r.saved_besides;
  }
  return all;
}

}  // namespace

uint64_t print_report(const settings& how, const std::vector<cell_report>& reports) {
  const auto levels = values(reports, &cell::level);
  for (const auto level : levels) print_level(how, level, reports);
  fmt::print("\n{:<6}{:>8}{:>12}{:>12}{:>12}{:>11}{:>11}{:>8}{:>12}{:>9}{:>7}\n", "level", "trials",
             "errors", "objects", "right", "refused", "unchecked", "SILENT", "had to", "besides",
             "closed");
  uint64_t broken = 0, beside = 0, within = 0, within_back = 0;
  for (const auto level : levels) {
    const cell_result s = sum(reports, level);
    beside += s.errors_beside;
    within += s.within;
    within_back += s.within_back;
    fmt::print("{:<6}{:>8}{:>12}{:>12}{:>12}{:>11}{:>11}{:>8}{:>12}{:>9}{:>7}\n",
               level_names[static_cast<size_t>(level)], s.trials, s.errors, s.objects, s.right,
               s.refused, s.unchecked, s.silent, s.survivable, s.saved_besides, s.refused_opens);
    broken += s.broken;
  }
  fmt::print(
      "right: read as they were. refused: an error instead of bytes. unchecked: wrong bytes where "
      "the\n"
      "level has no checksums. SILENT: wrong bytes that should have been noticed. had to: objects "
      "that\n"
      "by the geometry had to survive, and did. besides: others that did. closed: all superblocks "
      "lost.\n");
  if (how.shielded)
    fmt::print(
        "objects: pages of the file, each read and compared, as well with what the file holds. {} "
        "of\n"
        "the errors fell outside it, in FILE.scute. Of {} trials in which no column of bytes "
        "had more\ndamaged cells than parities every page came back in {}.\n",
        beside, within, within_back);
  unsigned shown = 0;
  for (const auto& [where, r] : reports) {
    if (r.broken == 0 || shown++ == 5) continue;
    fmt::print("FAILED {} ({} trials): {}\n  repeat: {}\n", where.name(), r.broken, r.broken_text,
               repeat_command(how, where, r.broken_first));
  }
  return broken;
}

void write_json(const std::string& path, const settings& how,
                const std::vector<cell_report>& reports) {
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  for (const auto& [where, r] : reports)
    cells.push_back({{"protection", level_names[static_cast<size_t>(where.level)]},
                     {"rows", where.rows},
                     {"bits", where.bits},
                     {"rate", where.rate},
                     {"trials", r.trials},
                     {"all_back", r.all_back},
                     {"all_survivable", r.all_survivable},
                     {"within", r.within},
                     {"within_back", r.within_back},
                     {"refused_opens", r.refused_opens},
                     {"errors", r.errors},
                     {"errors_beside", r.errors_beside},
                     {"objects", r.objects},
                     {"right", r.right},
                     {"refused", r.refused},
                     {"unchecked", r.unchecked},
                     {"silently_wrong", r.silent},
                     {"survivable", r.survivable},
                     {"saved_besides", r.saved_besides},
                     {"broken", r.broken}});
  std::ofstream out(path, std::ios::trunc);
  out << nlohmann::ordered_json{{"seed", how.seed},
                                {"size", how.size},
                                {"shielded", how.shielded},
                                {"cells", cells}}
             .dump(1)
      << '\n';
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace scute_campaign

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "report/report.hpp"

namespace scute::bench {
namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

}  // namespace

void publish(const options& o, const std::vector<row>& rows, int argc, char** argv) {
  fmt::print("{}", to_tables(rows, style::text));
  if (!o.json.empty()) write(o.json, to_json(rows));
  if (!o.markdown.empty()) write(o.markdown, to_tables(rows, style::markdown));
  if (!o.plots.empty()) {
    std::filesystem::create_directories(o.plots);
    write_plots(o.plots, rows);
  }
  if (o.report.empty()) return;
  std::filesystem::create_directories(o.report);
  write(o.report + "/results.jsonl", to_json(rows));
  std::string text = "# Benchmark report\n\n" + describe(o, argc, argv) + "\n";
  for (const std::string& file : write_plots(o.report, rows))
    text += fmt::format("![{}]({})\n\n", file.substr(0, file.find('.')), file);
  write(o.report + "/report.md", text + to_tables(rows, style::markdown));
}

}  // namespace scute::bench

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "results/results.hpp"

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
  if (!o.machine.empty()) write(o.machine, describe_machine(o, argc, argv));
}

}  // namespace scute::bench

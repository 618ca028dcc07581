// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/report.hpp"

namespace scute::bench {
namespace {

using nlohmann::ordered_json;

// What is left of a binary fraction after four decimals is noise.
double round4(double x) {
  return std::round(x * 1e4) / 1e4;
}

}  // namespace

std::string to_json(const std::vector<row>& rows) {
  std::string out;
  for (const row& r : rows) {
    ordered_json j;
    j["work"] = r.work;
    j["size"] = r.size;
    j["threads"] = r.threads;
    j["system"] = r.system;
    j["config"] = r.config;
    j["ns_per_op"] = round4(r.ns_per_op);
    j["spread"] = round4(r.spread);
    j["ops"] = r.ops;
    if (r.per_op) {
      j["fences_per_op"] = round4(r.per_op->fences);
      j["lines_per_op"] = round4(r.per_op->lines);
      j["bytes_per_op"] = round4(r.per_op->bytes());
      j["bytes_data_per_op"] = round4(r.per_op->bytes_data);
      j["bytes_parity_per_op"] = round4(r.per_op->bytes_parity);
      j["bytes_log_per_op"] = round4(r.per_op->bytes_log);
      j["bytes_metadata_per_op"] = round4(r.per_op->bytes_metadata);
    }
    if (r.moved) j["read_per_op"] = *r.moved;
    if (r.untested) j["untested"] = round4(*r.untested);
    out += j.dump() + "\n";
  }
  return out;
}

std::vector<row> from_json(const std::string& text) {
  std::vector<row> rows;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line);
    row r;
    r.work = j.at("work");
    r.size = j.at("size");
    r.threads = j.at("threads");
    r.system = j.at("system");
    r.config = j.at("config");
    r.ns_per_op = j.at("ns_per_op");
    r.spread = j.at("spread");
    r.ops = j.at("ops");
    if (j.contains("fences_per_op")) {
      r.per_op = costs{j.at("fences_per_op"),     j.at("lines_per_op"),
                       j.at("bytes_data_per_op"), j.at("bytes_parity_per_op"),
                       j.at("bytes_log_per_op"),  j.at("bytes_metadata_per_op")};
      j.at("bytes_per_op").get<double>();
    }
    if (j.contains("read_per_op")) r.moved = j.at("read_per_op").get<uint64_t>();
    if (j.contains("untested")) r.untested = j.at("untested").get<double>();
    rows.push_back(r);
  }
  return rows;
}

}  // namespace scute::bench

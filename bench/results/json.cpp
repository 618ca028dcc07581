// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/results.hpp"

namespace scute::bench {
namespace {

using nlohmann::ordered_json;

// Drops the digits of a binary fraction after the fourth decimal: they are noise.
double round4(double x) {
  return std::round(x * 1e4) / 1e4;
}

void put(ordered_json& j, const std::string& what, const workloads::transaction_sizes& s) {
  j[what + "_new_bytes"] = round4(s.new_bytes);
  j[what + "_new_objects"] = round4(s.new_objects);
  j[what + "_mod_bytes"] = round4(s.modified_bytes);
  j[what + "_mod_objects"] = round4(s.modified_objects);
}

workloads::transaction_sizes take(const nlohmann::json& j, const std::string& what) {
  return {j.at(what + "_new_bytes"), j.at(what + "_new_objects"), j.at(what + "_mod_bytes"),
          j.at(what + "_mod_objects")};
}

}  // namespace

std::string to_json(const std::vector<row>& rows) {
  std::string out;
  for (const row& r : rows) {
    ordered_json j;
    j["work"] = r.work;
    if (!r.structure.empty()) j["structure"] = r.structure;
    if (!r.distribution.empty()) j["distribution"] = r.distribution;
    j["size"] = r.size;
    j["threads"] = r.threads;
    j["system"] = r.system;
    j["config"] = r.config;
    if (!r.sizes && !r.load) {
      j["ns_per_op"] = round4(r.ns_per_op);
      j["spread"] = round4(r.spread);
    }
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
    if (r.deferred_ns) j["deferred_ns_per_op"] = round4(*r.deferred_ns);
    if (r.untested) j["untested"] = round4(*r.untested);
    for (const auto& [name, ns] : r.stages) j["stages"][name] = round4(ns);
    if (r.p50_ns) j["p50_ns"] = round4(*r.p50_ns);
    if (r.p99_ns) j["p99_ns"] = round4(*r.p99_ns);
    if (!r.file_system.empty()) j["file_system"] = r.file_system;
    if (r.sizes) {
      put(j, "insert", r.sizes->insert);
      put(j, "remove", r.sizes->remove);
    }
    if (r.load) {
      j["changed_bytes"] = round4(r.load->bytes);
      j["new_bytes"] = round4(r.load->new_bytes);
      j["updates"] = r.load->updates;
    }
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
    r.structure = j.value("structure", "");
    r.distribution = j.value("distribution", "");
    r.size = j.at("size");
    r.threads = j.at("threads");
    r.system = j.at("system");
    r.config = j.at("config");
    if (j.contains("insert_new_bytes")) {
      r.sizes = footprint{take(j, "insert"), take(j, "remove")};
    } else if (j.contains("changed_bytes")) {
      r.load = workloads::stamp::load{j.at("changed_bytes"), j.at("ops"), j.at("updates"),
                                      j.at("new_bytes")};
    } else {
      r.ns_per_op = j.at("ns_per_op");
      r.spread = j.at("spread");
    }
    r.ops = j.at("ops");
    if (j.contains("fences_per_op")) {
      r.per_op = costs{j.at("fences_per_op"),     j.at("lines_per_op"),
                       j.at("bytes_data_per_op"), j.at("bytes_parity_per_op"),
                       j.at("bytes_log_per_op"),  j.at("bytes_metadata_per_op")};
      j.at("bytes_per_op").get<double>();
    }
    if (j.contains("read_per_op")) r.moved = j.at("read_per_op").get<uint64_t>();
    if (j.contains("deferred_ns_per_op")) r.deferred_ns = j.at("deferred_ns_per_op").get<double>();
    if (j.contains("untested")) r.untested = j.at("untested").get<double>();
    if (j.contains("stages"))
      for (const auto& [name, ns] : j.at("stages").items()) r.stages.emplace_back(name, ns);
    if (j.contains("p50_ns")) r.p50_ns = j.at("p50_ns").get<double>();
    if (j.contains("p99_ns")) r.p99_ns = j.at("p99_ns").get<double>();
    r.file_system = j.value("file_system", "");
    rows.push_back(r);
  }
  return rows;
}

}  // namespace scute::bench

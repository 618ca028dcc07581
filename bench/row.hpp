// SPDX-License-Identifier: BSD-3-Clause
// One line of the result: a work, done by a system, at a size, by some threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/stamp/load.hpp"
#include "workloads/table3.hpp"

namespace scute::bench {

// The accesses of a system to the medium, as the system itself counts them.
struct costs {
  double fences = 0, lines = 0;
  double bytes_data = 0, bytes_parity = 0, bytes_log = 0, bytes_metadata = 0;

  double bytes() const { return bytes_data + bytes_parity + bytes_log + bytes_metadata; }

  costs& add(const costs& o, double factor = 1) {
    fences += o.fences * factor;
    lines += o.lines * factor;
    bytes_data += o.bytes_data * factor;
    bytes_parity += o.bytes_parity * factor;
    bytes_log += o.bytes_log * factor;
    bytes_metadata += o.bytes_metadata * factor;
    return *this;
  }
};

// The average demand of a map's transaction on its store: Pangolin's Table 3.
struct footprint {
  workloads::transaction_sizes insert, remove;
};

struct row {
  std::string work;
  std::string structure;     // of map benchmarks; else empty
  std::string distribution;  // of the keys of YCSB: "zipfian" or "uniform"; else empty
  uint64_t size = 0;
  unsigned threads = 1;
  std::string system, config;
  double ns_per_op = 0;
  double spread = 0;
  uint64_t ops = 0;
  std::optional<costs> per_op;    // absent where the system does not count
  std::optional<uint64_t> moved;  // bytes that one operation reads; gives a throughput

  std::optional<double>
      deferred_ns;                 // that the system put off until after the time of the operation
  std::optional<double> untested;  // share of the object bytes accessed that nothing has tested
  std::optional<double> p50_ns, p99_ns;  // of single operations, where those are timed
  std::string file_system;               // of workloads on a disk; else empty

  // Of `stages`, in the order of a transaction, and pow_…: name and ns, or what the work says it
  // is.
  std::vector<std::pair<std::string, double>> stages;

  std::optional<footprint> sizes;              // of table3, which has no times
  std::optional<workloads::stamp::load> load;  // of stamp_load, which has none either

  // As in --systems and in the tables.
  std::string name() const { return system == "scute" ? config : system; }
  // The same work at the same place, whatever the system.
  bool same_case(const row& o) const {
    return work == o.work && structure == o.structure && distribution == o.distribution &&
           size == o.size && threads == o.threads;
  }
};

// Linear interpolation between the two nearest samples.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - std::floor(at));
}

// Fills in the median of the rounds and the interquartile range over the median.
inline void summarize(row& r, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  r.ns_per_op = quantile(samples, 0.5);
  r.spread =
      r.ns_per_op == 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / r.ns_per_op;
}

}  // namespace scute::bench

// SPDX-License-Identifier: BSD-3-Clause
// The workloads. Each group runs those of its workloads that --filter names, and appends rows.
#pragma once

#include <string>
#include <vector>

#include "crew.hpp"
#include "options.hpp"
#include "row.hpp"

namespace scute::bench {

// Writes the current step to stderr: one line that is kept up to date on a terminal, a line per
// step elsewhere.
class progress {
 public:
  explicit progress(unsigned steps) : steps_(steps) {}
  ~progress();
  void step(const std::string& what);

 private:
  unsigned steps_, done_ = 0;
  bool terminal_ = false;
};

struct session {
  const options& o;
  crew& workers;
  progress& bar;
  std::vector<row>& rows;

  std::string path(const std::string& name) const;  // of a file of this process
};

struct benchmark_group {
  std::vector<std::pair<std::string, std::string>> benchmarks;  // name, what it is
  unsigned (*steps)(const options&);                            // for the progress line
  void (*run)(session&);
  // The rows that a run with these options must give: (work, size, threads, system, config).
  void (*expected)(const options&, std::vector<row>&);
};

const std::vector<benchmark_group>& benchmark_groups();

benchmark_group object_benchmarks();
benchmark_group hot_benchmark();
benchmark_group open_benchmarks();
benchmark_group full_log_benchmark();
benchmark_group check_benchmark();
benchmark_group scrub_benchmark();
benchmark_group recovery_benchmark();
benchmark_group lost_page_benchmark();
benchmark_group policy_benchmark();
benchmark_group kernel_benchmarks();
benchmark_group log_append_benchmark();
benchmark_group map_benchmarks();
benchmark_group ycsb_benchmarks();
benchmark_group durable_benchmark();
benchmark_group load_benchmark();
benchmark_group table3_benchmark();
benchmark_group stages_benchmark();
benchmark_group stamp_benchmarks();
// Bytes of the pools that STAMP runs in.
uint64_t stamp_pool_size(const options& o) noexcept;
benchmark_group stamp_cap_benchmark();
benchmark_group ents_benchmarks();
benchmark_group ents_level_benchmarks();

}  // namespace scute::bench

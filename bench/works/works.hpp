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

struct work_group {
  std::vector<std::pair<std::string, std::string>> works;  // name, what it is
  unsigned (*steps)(const options&);                       // for the progress line
  void (*run)(session&);
  // The rows that a run with these options must give: (work, size, threads, system, config).
  void (*expected)(const options&, std::vector<row>&);
};

const std::vector<work_group>& work_groups();

work_group object_works();
work_group hot_work();
work_group open_works();
work_group full_log_work();
work_group check_work();
work_group scrub_work();
work_group recovery_work();
work_group lost_page_work();
work_group policy_work();
work_group kernel_works();
work_group log_append_work();
work_group map_works();
work_group ycsb_works();
work_group durable_work();
work_group load_work();
work_group table3_work();
work_group stages_work();
work_group stamp_works();
// Bytes of the pools that STAMP runs in.
uint64_t stamp_pool_size(const options& o) noexcept;
work_group stamp_cap_work();
work_group ents_works();
work_group ents_level_works();

}  // namespace scute::bench

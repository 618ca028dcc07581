// SPDX-License-Identifier: BSD-3-Clause
// drill.hpp: the steps of the demo on one pool file.
#pragma once

#include "child.hpp"
#include "damage.hpp"
#include "package_index.hpp"
#include "status_line.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace scute_demo {

struct drill_options {
  std::string program;  // the scute command
  std::string folder;   // for the files
  std::string medium;
  uint64_t pool_size = 0;
  uint64_t batch = 100;
  uint64_t kills = 20;
};

struct load_outcome {
  uint64_t kills = 0;
  uint64_t resumed = 0;            // runs that continued in the middle of the source
  uint64_t rounds = 0;             // times the whole source was loaded
  uint64_t completed = 0;          // transactions that recovery completed
  std::vector<double> recovery_s;  // where the pool was open
};

struct repair_outcome {
  uint64_t at_open = 0;   // structures repaired by opening
  uint64_t by_reads = 0;  // by verifying reads of all objects
  uint64_t by_check = 0;  // by `scute check --repair`
  uint64_t lost = 0;
  bool clean = false;  // a second check finds nothing
};

struct comparison {
  uint64_t records = 0;
  uint64_t differing_bytes = 0;
};

class drill {
 public:
  drill(drill_options options, const package_index& index, std::mt19937_64& random,
        status_line& status);

  std::string pool_path() const { return options_.folder + "/demo.pool"; }

  void write_source();  // the records as TSV
  void create_pool();
  load_outcome load_under_fire();
  comparison compare();
  std::map<injury_kind, uint64_t> damage();
  repair_outcome repair();

 private:
  std::string source_path() const { return options_.folder + "/packages.tsv"; }
  std::string log_path() const { return options_.folder + "/scute.log"; }
  command scute_command(std::vector<std::string> arguments) const;
  std::string output_of_log() const;
  void must_succeed(const command& arguments);
  uint64_t loaded_records() const;
  void recover(load_outcome& outcome);

  drill_options options_;
  const package_index& index_;
  std::mt19937_64& random_;
  status_line& status_;
};

}  // namespace scute_demo

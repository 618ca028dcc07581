// SPDX-License-Identifier: BSD-3-Clause
// pow_drill.hpp: the demo on a persist-on-write file (--pow):
// loaded through `scute pow kv load` while the loader is killed again and again, damaged, repaired
// and compacted, and compared byte by byte after each.
#pragma once

#include "child.hpp"
#include "package_index.hpp"
#include "status_line.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace scute_demo {

struct pow_options {
  std::string program;  // the scute command
  std::string folder;   // for the files
  std::string medium;
  uint64_t file_max = 0;
  uint64_t batch = 100;
  uint64_t kills = 20;
};

struct pow_results {
  uint64_t kills = 0, resumed = 0, rounds = 0;
  uint64_t pages_overwritten = 0;
  uint64_t found = 0, lost = 0;              // by the check after the damage
  uint64_t size_before = 0, size_after = 0;  // of compaction
  uint64_t differing_bytes = 0;              // of all comparisons
  uint64_t records = 0;
  bool digests_agree = false;  // of repaired, and compacted
  bool clean = false;          // the last check finds nothing
};

class pow_drill {
 public:
  pow_drill(pow_options options, const package_index& index, std::mt19937_64& random,
            status_line& status);

  std::string path() const { return options_.folder + "/demo.pow"; }
  pow_results run();

 private:
  void write_source();
  void load_under_fire(pow_results& r);
  uint64_t differing(pow_results& r);
  void damage(pow_results& r);
  std::string digest();
  std::string log_path() const { return options_.folder + "/scute.log"; }
  command scute_pow(std::vector<std::string> arguments) const;
  std::string output_of(const command& arguments, int expected) const;

  pow_options options_;
  const package_index& index_;
  std::mt19937_64& random_;
  status_line& status_;
};

}  // namespace scute_demo

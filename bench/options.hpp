// SPDX-License-Identifier: BSD-3-Clause
// What the command line says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crew.hpp"

namespace scute::bench {

struct options {
  std::string dir = "/dev/shm";
  std::string disk_dir = "/var/tmp";  // of the durable workloads
  std::vector<std::string> filter;    // parts of the workloads' names; empty: all
  std::vector<std::string> systems;   // empty: all
  std::vector<uint64_t> sizes{64, 256, 1024, 4096};
  std::vector<unsigned> threads{1, 2};
  unsigned rounds = 21;
  uint32_t ops = 20000;                       // per thread, round and work
  uint32_t objects = 0;                       // per thread; 0: from the working set
  uint64_t working_set = uint64_t{64} << 20;  // bytes of objects, all threads
  uint64_t open_size = uint64_t{16} << 30;    // of the pools of open_clean
  uint64_t check_size = uint64_t{192} << 20;  // bytes of objects in the pool of check
  uint64_t scrub_size = uint64_t{1} << 30;    // of the pools of scrub and under_scrub
  uint64_t keys = 1'000'000;                  // of the maps; see keys_of() in map_benchmarks.cpp
  unsigned map_rounds = 3;                    // a round builds and empties each map once
  std::vector<std::string> structures;        // maps; empty: all
  uint64_t records = 1'000'000;               // of YCSB, at first
  double disk_seconds = 1;                    // of a round on the disk, per system
  uint64_t seed = 1;
  clock_kind clock = clock_kind::wall;
  bool quick = false, tiny = false, list = false;
  std::string json, markdown, machine;

  bool wants(const std::string& work) const;
  bool wants_system(const std::string& name) const;
  bool wants_structure(const std::string& name) const;
};

// Parses the command line. On --help or a mistake prints what there is to say and returns false
// with the exit code.
bool parse(int argc, char** argv, options& o, int& exit_code);

}  // namespace scute::bench

// SPDX-License-Identifier: BSD-3-Clause
// settings.hpp: what a run of scute-torture was asked for.
#pragma once

#include <scute/options.hpp>

#include <cstdint>
#include <string>

namespace scute_torture {

inline constexpr unsigned threads_max = 64;

struct settings {
  std::string dir;              // empty: in memory if there is a place, else the temporary folder
  std::string medium = "auto";  // as the library names them
  std::string protection = "mlpc";
  std::string engine = "auto";
  std::string workload = "all";  // objects, containers, churn, crowd, all
  std::string size = "4M";
  std::string drill;  // see drill.hpp
  uint64_t seed = 0;
  uint64_t kills = 0;  // 0: no limit
  double seconds = 0;  // 0: no limit
  unsigned threads = 4;
  unsigned lanes = 0;       // 0: by the pool's size
  unsigned parity = 0;      // rows; 0: as the library chooses
  uint32_t chunk_size = 0;  // 0: not drawn yet
  bool keep = false;
  bool quiet = false;

  // For creating and opening the pool.
  scute::options pool() const {
    scute::options o;
    o.set("medium", medium).set("protection", protection).set("engine", engine).set("size", size);
    o.lanes = lanes;
    o.parity = parity;
    o.chunk_size = chunk_size;
    return o;
  }

  // The command that makes the same run again.
  std::string command() const;
};

}  // namespace scute_torture

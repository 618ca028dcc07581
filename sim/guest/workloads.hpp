// SPDX-License-Identifier: BSD-3-Clause
// The simulated program's workloads, over the systems of bench/ and the store that marks its
// transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "row.hpp"

namespace scute::sim {

struct guest_task {
  std::string work, system, dir, scale = "quick";
  unsigned threads = 1;
  uint64_t seed = 1;
};

class guest_workload {
 public:
  virtual ~guest_workload() = default;
  // Before what is measured, on the simulated machine: the code and what all operations need is in
  // the caches then.
  virtual void warm() {}
  // Called once for each thread.
  virtual void run(unsigned thread) = 0;
  // "" if all is well.
  virtual std::string check() = 0;
  // Does what the system has put off.
  virtual void drain() {}
  // Fences and lines that the system has counted itself; false if it does not count.
  virtual bool count(bench::costs&) { return false; }
};

// Ready to run. Throws std::invalid_argument for what there is not.
std::unique_ptr<guest_workload> make_workload(const guest_task& task);

// Says which memory is persistent: what is mapped from files in the task's folder.
void announce_persistent(const guest_task& task);
// Bytes of the files in the task's folder that were ever written.
uint64_t footprint_of(const guest_task& task);

}  // namespace scute::sim

// SPDX-License-Identifier: BSD-3-Clause
// The systems compared in the STAMP workloads: one application in one place, once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "row.hpp"
#include "workloads/stamp/applications.hpp"

namespace scute::bench {

class stamp_system {
 public:
  virtual ~stamp_system() = default;

  // Called in each measured thread, once. Returns how many transactions it took.
  virtual uint64_t run(unsigned thread) = 0;
  // "" if the result is right, else what is wrong.
  virtual std::string check() = 0;
  // Does what the system has put off; false if it puts nothing off.
  virtual bool drain() { return false; }
  // Gets the system's costs since it was made; false if the system does not count.
  virtual bool count(costs&) { return false; }
};

struct stamp_task {
  const workloads::stamp::any_input& input;
  unsigned threads;
  std::string path;      // of the file to make; systems without a file ignore it
  uint64_t size;         // of the file
  uint64_t log_cap = 0;  // bytes of a speculative log; 0: as the library chooses
};

struct stamp_kind {
  std::string name;            // in --systems
  std::string system, config;  // in the result
  std::string about;           // in --list; "" if another group of workloads lists it
  std::string pool;            // the configuration of a Scute pool, else ""
  bool asked_for;              // takes part only if --systems names it
  // Ready to run.
  std::unique_ptr<stamp_system> (*make)(const stamp_kind&, const stamp_task&);
};

// All of this build, in the order of the tables.
const std::vector<stamp_kind>& stamp_kinds();

std::unique_ptr<stamp_system> make_scute_stamp(const stamp_kind&, const stamp_task&);
// Ranges are edited where they lie.
std::unique_ptr<stamp_system> make_scute_in_place_stamp(const stamp_kind&, const stamp_task&);
// The same, and what was edited is written back before the commit.
std::unique_ptr<stamp_system> make_scute_flushing_stamp(const stamp_kind&, const stamp_task&);
// Throws no_huge_pages if its pool is to have them and gets none.
std::unique_ptr<stamp_system> make_pmemobj_stamp(const stamp_kind&, const stamp_task&);
// A run of an array is saved element by element.
std::unique_ptr<stamp_system> make_pmemobj_elements_stamp(const stamp_kind&, const stamp_task&);
std::unique_ptr<stamp_system> make_unlogged_stamp(const stamp_kind&, const stamp_task&);
std::unique_ptr<stamp_system> make_volatile_stamp(const stamp_kind&, const stamp_task&);

}  // namespace scute::bench

// SPDX-License-Identifier: BSD-3-Clause
// The systems compared in the ENTS paper's workloads: a task in one place, and requests that
// threads run on it. A batch is one virtual call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "row.hpp"
#include "workloads/ents/requests.hpp"
#include "workloads/ents/tasks.hpp"

namespace scute::bench {

class ents_system {
 public:
  virtual ~ents_system() = default;

  // How many requests did what they should. Any number of threads, where the task has any.
  virtual uint64_t run(unsigned thread, const workloads::ents::batch& requests) = 0;
  // "" if all is sound, else what is wrong. No thread runs.
  virtual std::string check() = 0;
  // Gets the system's costs since it was made; false if the system does not count.
  virtual bool count(costs&) { return false; }
};

struct ents_task {
  const workloads::ents::task& what;
  uint64_t requests;  // that will be run on it, at most
  unsigned threads;   // at most
  std::string path;   // of the file to make; systems without a file ignore it
};

struct ents_kind {
  std::string name;            // in --systems
  std::string system, config;  // in the result
  std::string about;           // "": system_kinds() says it
  // A variant runs along with the others with one thread, and not with --quick, unless --systems
  // names it.
  bool variant;
  // Level hashing alone.
  bool level_only;
  // The task is there, ready for requests.
  std::unique_ptr<ents_system> (*make)(const ents_kind&, const ents_task&);
};

// All of this build, in the order of the tables. Another store is a home (systems/*_home.hpp), a
// maker in a file of its own next to scute_ents.cpp, and a line in ents_kinds.cpp.
const std::vector<ents_kind>& ents_kinds();

// Bytes of a pool that holds the task, with headers and what allocators round up to.
uint64_t ents_pool_size(const ents_task&);

std::unique_ptr<ents_system> make_scute_ents(const ents_kind&, const ents_task&);
// Throws no_huge_pages if its pool is to have them and gets none.
std::unique_ptr<ents_system> make_pmemobj_ents(const ents_kind&, const ents_task&);
// A persist-on-write file.
std::unique_ptr<ents_system> make_pow_ents(const ents_kind&, const ents_task&);
std::unique_ptr<ents_system> make_append_ents(const ents_kind&, const ents_task&);
std::unique_ptr<ents_system> make_volatile_ents(const ents_kind&, const ents_task&);
// Level hashing in place.
std::unique_ptr<ents_system> make_in_place_ents(const ents_kind&, const ents_task&);

}  // namespace scute::bench

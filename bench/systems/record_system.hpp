// SPDX-License-Identifier: BSD-3-Clause
// The systems compared in the YCSB workloads: records of one size in a locked hash map in one
// place, for several threads. A batch of operations is one virtual call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "row.hpp"
#include "workloads/ycsb.hpp"

namespace scute::bench {

struct record_population {
  uint64_t value_size;  // 100 or 256
  uint64_t records;     // at most
  std::string path;     // of the file to make; systems without a file ignore it
  std::string config;
};

class record_system {
 public:
  virtual ~record_system() = default;

  // Does the operations, those that write in a transaction each. The written bytes follow from
  // `version` and the operation's place in the batch. Returns how many records were present, or not
  // yet present, as they should be: one per operation, and of a scan as many as it asks for. Any
  // number of threads may call it.
  virtual uint64_t run(std::span<const workloads::ycsb::operation> batch, uint64_t version) = 0;

  // Gets the system's costs since it was made; false if the system does not count.
  virtual bool count(costs&) { return false; }
  // Does what the system has put off; false if it puts nothing off.
  virtual bool drain() { return false; }
};

uint64_t record_pool_size(const record_population& p);

std::unique_ptr<record_system> make_scute_records(const record_population&);
// With `huge`: in huge pages, or no_huge_pages is thrown (systems/pmemobj_huge.hpp).
std::unique_ptr<record_system> make_pmemobj_records(const record_population&, bool huge);
std::unique_ptr<record_system> make_volatile_records(const record_population&);

}  // namespace scute::bench

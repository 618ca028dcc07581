// SPDX-License-Identifier: BSD-3-Clause
// The systems compared in the map workloads: one map of workloads/maps in one place. A batch of
// keys, one transaction or look-up each, is one virtual call, so that the loop inside is the one
// that a program would write.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "row.hpp"

namespace scute::bench {

class map_system {
 public:
  virtual ~map_system() = default;

  // Each returns for how many keys the map did what was expected: a key was new; was there, with
  // the value that insert() gave it; was there to be removed.
  virtual uint64_t insert(std::span<const uint64_t> keys) = 0;
  virtual uint64_t get(std::span<const uint64_t> keys) = 0;
  virtual uint64_t remove(std::span<const uint64_t> keys) = 0;

  // The number of entries, by iterating; and what check() of the map says, "" if all is well.
  virtual uint64_t entries() = 0;
  virtual std::string check() = 0;

  // Gets the system's costs since it was made; false if the system does not count.
  virtual bool count(costs&) { return false; }
  // Does what the system has put off; false if it puts nothing off.
  virtual bool drain() { return false; }
};

// The maps, in the order of the papers.
const std::vector<std::string>& map_structures();
// Bytes of a value, those of Pangolin's Table 3.
uint64_t map_value_size(const std::string& structure);

struct map_population {
  std::string structure;
  uint64_t keys;     // at most at once
  std::string path;  // of the file to make; systems without a file ignore it
  std::string config;
};

// Bytes of a pool that holds the population, with headers and what the allocators round up to.
uint64_t map_pool_size(const map_population& p);

// One maker per file. The pools are allocated as a whole, so that no page of tmpfs is made while
// time is taken; libpmemobj does that by itself. With `huge` it gets huge pages, or no_huge_pages
// is thrown (systems/pmemobj_huge.hpp).
std::unique_ptr<map_system> make_scute_map(const map_population& p);
std::unique_ptr<map_system> make_pmemobj_map(const map_population& p, bool huge);
std::unique_ptr<map_system> make_volatile_map(const map_population& p);

}  // namespace scute::bench

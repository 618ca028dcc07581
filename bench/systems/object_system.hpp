// SPDX-License-Identifier: BSD-3-Clause
// The systems compared in the object workloads. Every system keeps a table of objects, numbered by
// *slot*; a batch names the slots to allocate, overwrite, edit or free, one transaction each. A
// batch is one virtual call, so that the loop inside is the one that a program would write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "options.hpp"
#include "row.hpp"
#include "systems/content.hpp"

namespace scute::bench {

struct population {
  uint64_t size;     // of an object
  uint32_t slots;    // of all threads
  std::string path;  // of the file to make; systems without a file ignore it
};

// How many bytes of an object of this size an edit changes. They lie in its middle.
inline uint64_t edited(uint64_t size) {
  return std::max<uint64_t>(size / 4, 1);
}
inline uint64_t edited_from(uint64_t size) {
  return (size - edited(size)) / 2;
}

class object_system {
 public:
  virtual ~object_system() = default;

  // Each is called in the measured thread. A slot is used by one thread only.
  virtual void alloc(std::span<const uint32_t> slots, content c) = 0;
  virtual void overwrite(std::span<const uint32_t> slots, content c) = 0;
  virtual void free(std::span<const uint32_t> slots) = 0;
  // Changes edited(size) bytes of each object where they lie; for those kinds that edit.
  virtual void edit(std::span<const uint32_t>, content) {}

  // Gets the costs of all threads since the system was made; false if the system does not count.
  // Called between batches.
  virtual bool count(costs&) { return false; }
  // Does what the system has put off; false if it puts nothing off.
  virtual bool drain() { return false; }
};

struct system_kind {
  std::string name;            // in --systems
  std::string system, config;  // in the result
  std::string about;
  bool frees;  // has a `free` to measure
  bool edits;  // and an `edit`
  std::unique_ptr<object_system> (*make)(const system_kind&, const options&, const population&);
};

// All systems of this build, in the order of the tables.
const std::vector<system_kind>& system_kinds();

// The makers of the kinds that system_kinds() lists, one per file.
std::unique_ptr<object_system> make_scute(const system_kind&, const options&, const population&);
// Throws no_huge_pages if its pool is to have them and gets none.
std::unique_ptr<object_system> make_pmemobj(const system_kind&, const options&, const population&);
std::unique_ptr<object_system> make_raw(const system_kind&, const options&, const population&);
std::unique_ptr<object_system> make_memcpy(const system_kind&, const options&, const population&);
std::unique_ptr<object_system> make_volatile(const system_kind&, const options&, const population&);

// True if CPU instructions make stores to files in this folder as durable as they get: tmpfs, or a
// file system that grants MAP_SYNC. Elsewhere it takes a system call.
bool cpu_persists(const std::string& dir);

}  // namespace scute::bench

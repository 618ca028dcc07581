// SPDX-License-Identifier: BSD-3-Clause
// Finding log entries after a crash. Trusts nothing that it reads: every offset, length and count
// is tested against the geometry before it is used (POOL-9).
//
// LOGREAD-1 Reading a lane takes time in proportion to its length, whatever it holds. Heads lie at multiples of 64
//    bytes and each may vouch for all that follows, so summing up each body by itself would take the square
//    of that: once more bytes were summed than a lane that Scute wrote can ask for, sums come from a table
//    of prefixes. Bytes are copied for the entry that counts only.
// LOGREAD-2 All chains of a pool together are read at most twice as long as the pool. A lent chunk belongs to one
//    chain, so no log that Scute wrote comes near that; whoever needs more has been made to need it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "pool/state.hpp"

namespace scute::engine {

// Bytes of the file.
struct place {
  uint64_t offset, length;
};

struct found_entry {
  format::log_entry head{};
  std::vector<std::byte> records;
  std::vector<place> places;  // where it lies, all copies, and the links of its chain
};

struct found_log {
  uint64_t applied = 0;             // from the status line; 0 if it says nothing
  std::optional<found_entry> last;  // valid ring entry with the highest sequence
  std::vector<found_entry> undo;    // live undo entries, oldest first (LOG-4)
  std::vector<place> undo_places;   // where they lie, and what leads from one to the next
};

class log_reader {
 public:
  explicit log_reader(const pool::state& s) : s_(s), chain_bytes_left_(2 * s.geo.file_size) {}

  // Throws failure(SCUTE_E_CORRUPT) beyond LOGREAD-2.
  found_log read_lane(uint32_t lane);

 private:
  bool unchain(found_entry& e);
  const std::byte* link_at(const format::log_entry& e, uint64_t index, uint64_t offset,
                           uint64_t replica, format::log_link& link);

  const pool::state& s_;
  uint64_t chain_bytes_left_;
};

// Calls fn for each record of an entry. Throws failure(SCUTE_E_CORRUPT) before the first call if
// any record is malformed or its range lies outside the data rows.
void for_each_record(const pool::state& s, const found_entry& e,
                     const std::function<void(format::record_kind, uint64_t offset,
                                              const std::byte* bytes, uint32_t length)>& fn);

}  // namespace scute::engine

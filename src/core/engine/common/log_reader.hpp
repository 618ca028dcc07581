// SPDX-License-Identifier: BSD-3-Clause
// Reads a lane's log after a crash. Trusts nothing that it reads: every offset, length and count is
// tested against the geometry before it is used (POOL-9). Only the bytes of the entry that counts
// are copied (core/log/area.hpp, AREA-1).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/log/chain.hpp"
#include "core/shared/state.hpp"

namespace scute::core::engine {

using place = log::chain_reader::place;

struct found_entry {
  format::log_entry head{};
  std::vector<std::byte> records;
  std::vector<place> places;  // where it lies, all copies, and the links of its chain
};

struct found_log {
  uint64_t applied = 0;             // from the status line; 0 if it says nothing
  std::optional<found_entry> last;  // valid ring entry with the highest sequence
  std::vector<found_entry> undo;    // live undo entries, oldest first (LOG-4)
  std::vector<place> undo_places;   // where they lie, with the links from one to the next
};

class log_reader {
 public:
  explicit log_reader(const pool::state& s);

  // Throws failure(SCUTE_E_CORRUPT) beyond the limit of CHAIN-2.
  found_log read_lane(uint32_t lane);

 private:
  bool unchain(found_entry& e);

  const pool::state& s_;
  log::chain_reader chains_;
};

// Calls fn for each record of an entry. Throws failure(SCUTE_E_CORRUPT) before the first call if
// any record is malformed or its range lies outside the data rows.
void for_each_record(const pool::state& s, const found_entry& e, const log::record_fn& fn);

}  // namespace scute::core::engine

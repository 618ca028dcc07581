// SPDX-License-Identifier: BSD-3-Clause
// Finding log entries after a crash. Trusts nothing that it reads: every offset, length and count
// is tested against the geometry before it is used (F9).
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
  std::vector<found_entry> undo;    // live undo entries, oldest first (L4)
  std::vector<place> undo_places;   // where they lie, and what leads from one to the next
};

found_log read_lane(const pool::state& s, uint32_t lane);

// Calls fn for each record of an entry. Throws failure(SCUTE_E_CORRUPT) before the first call if
// any record is malformed or its range lies outside the data rows.
void for_each_record(const pool::state& s, const found_entry& e,
                     const std::function<void(format::record_kind, uint64_t offset,
                                              const std::byte* bytes, uint32_t length)>& fn);

}  // namespace scute::engine

// SPDX-License-Identifier: BSD-3-Clause
// The file at a name of a pool's log, and whether it is the log that the pool's superblock means
// (core/engine/speculative/log_file/log_in_file.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/engine/speculative/log_file/log_location.hpp"

namespace scute::core::engine {

using log_head = format::log_file_head;
using head_state = format::log_file_state;

// A file with more chunks would take long to read. Any program may have written it.
inline constexpr uint32_t log_chunks_max = uint32_t{1} << 17;
inline constexpr uint64_t log_head_at[2] = {0, format::page};

uint32_t checksum_of(const log_head& h) noexcept;
// The head in that copy, or the one that counts; none if it is not valid.
std::optional<log_head> head_in(const medium::medium& m, int copy) noexcept;
std::optional<log_head> newest_head(const medium::medium& m) noexcept;
// The size of the file according to the head.
uint64_t size_of(const log_head& h) noexcept;
// Why this library cannot have written a valid head for such a pool; null if it can.
const char* nonsense(const pool::state& s, const log_head& h) noexcept;

// The head of a log whose pool has replaced another one has the uuid of the replaced pool, after
// the session's number. A crash may leave both logs. is_heir_of(): `old` is the log of the replaced
// pool, and no newer library has written it.
void note_replaced(log_head& h, const medium::pool_uuid& uuid) noexcept;
bool is_heir_of(const log_head& heir, const log_head& old) noexcept;

struct log_candidate {
  std::unique_ptr<medium::medium> file;
  std::optional<log_head> found;
  bool leads_nowhere = false;  // it is a symbolic link
  bool is_other = false;       // it is a directory, a pipe or the like
  std::string misfit;          // empty: it fits
  scute_error code = SCUTE_E_CORRUPT;

  bool is_there() const noexcept { return file != nullptr || is_other; }
  bool fits() const noexcept { return file != nullptr && misfit.empty(); }
  bool is_of(const pool::state& s) const noexcept;
  // It is the log of the pool that is going to be replaced.
  bool is_replaced(const pool::state& s) const noexcept;
  bool is_closed() const noexcept;
  // LOGFILE-2: no copy of any pool can need anything in it; or this pool cannot, as its superblock
  // is newer and needs no log.
  bool is_void(const pool::state& s) const noexcept;
  // Nothing was ever appended to it. Returns false if the file cannot be read.
  bool is_empty() const;
};

// clean: the pool was closed properly.
log_candidate look(const pool::state& s, medium::log_paths::name n, bool clean);

// Clears the name `coming` where it can. A log that no pool can need is removed. It may be of a
// creation that was killed before anything was appended; its head may say `in use` before its pool
// has a name. Or it is that of the pool that is being replaced. A file of zeros is removed, too.
// Another log is set aside. A file that is no log stays, and does no harm. A thread that makes a
// log now has it locked.
void clear_coming(pool::state& s) noexcept;
// LOGFILE-7: frees the name, for the log with the head `heir` if that is given. The file there is
// removed if no pool can need it, otherwise set aside. Throws SCUTE_E_EXISTS.
void make_way(pool::state& s, medium::log_paths::name n, const std::optional<log_head>& heir = {});

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
// What is at a name of a pool's log, and whether it is the log that the pool's superblock means
// (engine/speculative/log_in_file.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/speculative/log_location.hpp"

namespace scute::core::engine {

using log_head = format::log_file_head;
using head_state = format::log_file_state;

// More would take long to look through, whoever has written them.
inline constexpr uint32_t log_chunks_max = uint32_t{1} << 17;
inline constexpr uint64_t log_head_at[2] = {0, format::page};

uint32_t checksum_of(const log_head& h) noexcept;
// The head of that copy, or the one that counts; none if it is not valid.
std::optional<log_head> head_in(const medium::medium& m, int copy) noexcept;
std::optional<log_head> newest_head(const medium::medium& m) noexcept;
// Bytes of the file that the head counts.
uint64_t size_of(const log_head& h) noexcept;
// Why a head that is valid is not one that this library can have written for such a pool; null: it
// is.
const char* nonsense(const pool::state& s, const log_head& h) noexcept;

// The log was made with a pool that has replaced another one, and `old` is the log of that. Behind
// the session's number the head has the uuid of the pool that is replaced, if any: a crash may
// leave both logs.
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
  // Of the pool that is going to be replaced.
  bool is_replaced(const pool::state& s) const noexcept;
  bool is_closed() const noexcept;
  // LOGFILE-2: nothing in it can be needed by any copy of any pool; or, as the superblock is newer
  //            and needs none, by this one.
  bool is_void(const pool::state& s) const noexcept;
  // Nothing was ever appended to it. False if that cannot be read.
  bool is_empty() const;
};

// clean: the pool was closed properly.
log_candidate look(const pool::state& s, medium::log_paths::name n, bool clean);

// What is at `coming` goes if nobody can need it: of a creation that was killed, and nothing was
// ever appended to it, though its head may say `in use` before its pool has a name; of the pool
// that is being replaced; or no more than zeros. Another log is set aside. What is no log stays: it
// is in nobody's way. Whoever makes one now has it locked.
void clear_coming(pool::state& s) noexcept;
// LOGFILE-7: the name is needed, for the log with the head `heir` if that is given. What has it
// goes if nobody can need it, else it is set aside. Throws SCUTE_E_EXISTS.
void make_way(pool::state& s, medium::log_paths::name n,
              const std::optional<log_head>& heir = {});

}  // namespace scute::core::engine

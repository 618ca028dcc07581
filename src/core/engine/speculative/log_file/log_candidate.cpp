// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/log_file/log_candidate.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/shared/pool/session_number.hpp"

namespace scute::core::engine {
namespace {

using medium::log_paths;

bool is_head(const log_head& h) noexcept {
  return std::memcmp(h.magic, format::log_file_magic, sizeof h.magic) == 0 &&
         h.checksum == checksum_of(h);
}

// Returns false if it cannot be read.
bool has_only_zeros(const medium::medium& m, uint64_t from) {
  constexpr uint64_t step = uint64_t{64} << 10;
  std::vector<std::byte> some(step);
  const uint64_t size = m.size();
  for (uint64_t at = from; at < size; at += step) {
    const uint64_t n = std::min(step, size - at);
    if (!m.read(at, some.data(), n)) return false;
    if (std::any_of(some.begin(), some.begin() + static_cast<ptrdiff_t>(n),
                    [](std::byte b) { return b != std::byte{}; }))
      return false;
  }
  return true;
}

}  // namespace

uint32_t checksum_of(const log_head& h) noexcept {
  constexpr size_t before = offsetof(log_head, version);
  return codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + before, sizeof h - before);
}

std::optional<log_head> head_in(const medium::medium& m, int copy) noexcept {
  log_head h;
  if (!m.read(log_head_at[copy], &h, sizeof h) || !is_head(h)) return std::nullopt;
  return h;
}

std::optional<log_head> newest_head(const medium::medium& m) noexcept {
  std::optional<log_head> a = head_in(m, 0);
  const std::optional<log_head> b = head_in(m, 1);
  if (b && (!a || b->number > a->number)) a = b;
  return a;
}

uint64_t size_of(const log_head& h) noexcept {
  return format::log_file_chunks_offset + uint64_t{h.chunks} * h.chunk_size;
}

const char* nonsense(const pool::state& s, const log_head& h) noexcept {
  using log::redundancy;
  if (h.chunk_size != s.geo.chunk_size) return "chunk size";
  if (h.segment_size < log::segment_page || h.segment_size > h.chunk_size ||
      !std::has_single_bit(h.segment_size))
    return "segment size";
  const auto how = static_cast<redundancy>(h.redundancy);
  if (how != redundancy::one_copy && how != redundancy::two_copies) return "redundancy";
  const uint32_t copies = how == redundancy::two_copies ? 2 : 1;
  if (h.chunks == 0 || h.chunks > log_chunks_max || h.chunks % copies != 0 || h.kept == 0 ||
      h.kept % copies != 0 || h.kept > h.chunks)
    return "number of chunks";
  segment_list plan;
  plan.segment_size = h.segment_size;
  plan.how = how;
  if (h.kept < chunks_least(s.geo, plan)) return "too few chunks";
  if (h.number >= lsn_max) return "number of its head";
  return nullptr;
}

namespace {
constexpr size_t replaced_at = sizeof(pool::session_number);
static_assert(replaced_at + sizeof(medium::pool_uuid) <= sizeof(log_head::reserved));
}  // namespace

void note_replaced(log_head& h, const medium::pool_uuid& uuid) noexcept {
  std::memcpy(reinterpret_cast<std::byte*>(h.reserved) + replaced_at, uuid.data(), uuid.size());
}

bool is_heir_of(const log_head& heir, const log_head& old) noexcept {
  medium::pool_uuid uuid;
  std::memcpy(uuid.data(), reinterpret_cast<const std::byte*>(heir.reserved) + replaced_at,
              uuid.size());
  return uuid != medium::pool_uuid{} && std::memcmp(uuid.data(), old.uuid, uuid.size()) == 0 &&
         old.version <= format::log_file_version;
}

// ---- a candidate --------------------------------------------------------------------------------

bool log_candidate::is_of(const pool::state& s) const noexcept {
  return found && std::memcmp(found->uuid, s.sb.uuid, sizeof found->uuid) == 0;
}

bool log_candidate::is_replaced(const pool::state& s) const noexcept {
  const std::optional<medium::pool_uuid> old = s.log_paths->replaced();
  return found && old && std::memcmp(found->uuid, old->data(), sizeof found->uuid) == 0;
}

bool log_candidate::is_closed() const noexcept {
  return found && static_cast<head_state>(found->state) == head_state::closed;
}

bool log_candidate::is_void(const pool::state& s) const noexcept {
  const bool needed = (s.sb.incompat & format::incompat_log_file) != 0;
  return is_closed() || (!needed && is_of(s) && found->epoch < s.sb.epoch);
}

bool log_candidate::is_empty() const {
  return has_only_zeros(*file, format::log_file_chunks_offset);
}

namespace {

// Checks the epoch of a log with this pool's uuid against the pool's superblock. Returns the reason
// why it does not fit.
std::string misfit_of(const pool::state& s, const log_head& h, bool clean) {
  const uint64_t e = s.sb.epoch;
  const auto kind = static_cast<head_state>(h.state);
  // LOGFILE-8
  const uint64_t mine = pool::session_of(s.sb).number;
  const pool::session_number its = pool::session_of(h);
  const bool is_next = kind == head_state::coming && h.epoch == e + 1;
  if ((h.epoch == e || is_next) && !pool::may_be_same(is_next ? its.before : its.number, mine))
    return "is that of another copy of the pool, in the same session (" + std::to_string(e) + ")";
  if (kind == head_state::coming && (h.epoch == e || h.epoch == e + 1)) return "";
  if (kind == head_state::in_use && h.epoch == e) return "";
  if (kind == head_state::closed && h.epoch == e)
    return clean ? "" : "is from after the pool was closed, which this copy of the pool was not";
  return h.epoch < e ? "is older than the pool (session " + std::to_string(h.epoch) + " of " +
                           std::to_string(e) + ")"
                     : "is newer than the pool (session " + std::to_string(h.epoch) +
                           ", and the pool's last is " + std::to_string(e) + ")";
}

}  // namespace

log_candidate look(const pool::state& s, log_paths::name n, bool clean) {
  log_candidate c;
  const auto how = s.read_only ? medium::access::read : medium::access::write;
  try {
    c.file = s.log_paths->open(n, how);
  } catch (const failure& f) {
    if (f.code() != SCUTE_E_NOENT && f.code() != SCUTE_E_FORMAT) throw;
    c.leads_nowhere = f.code() == SCUTE_E_NOENT;
    c.is_other = !c.leads_nowhere;
    if (c.is_other) c.code = f.code();
  }
  // Not SCUTE_E_NOENT: the pool exists, and no caller shall create it again.
  if (c.file == nullptr) {
    c.misfit = c.is_other ? "is no file (a directory, a pipe or the like)" : "is missing";
    return c;
  }
  if (!clean) c.file->refresh();
  c.found = newest_head(*c.file);
  if (!c.found) {
    c.misfit = "is no log of a pool, or is damaged";
  } else if (!c.is_of(s)) {
    c.misfit = "is the log of another pool";
  } else if (c.found->version > format::log_file_version) {
    c.misfit = "was made by a newer Scute";
    c.code = SCUTE_E_VERSION;
  } else if (const char* what = nonsense(s, *c.found)) {
    c.misfit = std::string("is inconsistent (") + what + ")";
  } else if (c.file->size() < size_of(*c.found)) {
    c.misfit = "was truncated";
    c.code = SCUTE_E_TRUNCATED;
  } else {
    c.misfit = misfit_of(s, *c.found, clean);
  }
  return c;
}

// ---- files at a name that is needed -------------------------------------------------------------

namespace {

// Whether no pool can need the file. (A file of a newer library is not removed.)
bool may_go(const pool::state& s, const log_candidate& c, log_paths::name n) {
  if (c.found && c.found->version > format::log_file_version) return false;
  if (c.is_replaced(s) || (c.found && c.is_void(s))) return true;
  if (n != log_paths::name::coming) return false;
  return c.found ? c.is_empty() : c.file->size() != 0 && has_only_zeros(*c.file, 0);
}

}  // namespace

void clear_coming(pool::state& s) noexcept {
  try {
    const log_candidate c = look(s, log_paths::name::coming, true);
    if (c.file == nullptr) return;
    if (may_go(s, c, log_paths::name::coming))
      s.log_paths->remove(log_paths::name::coming);
    else if (c.found)
      s.log_paths->set_aside(log_paths::name::coming);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it does no harm there
  }
}

void make_way(pool::state& s, log_paths::name n, const std::optional<log_head>& heir) {
  const log_candidate c = look(s, n, true);
  if (!c.is_there() && !c.leads_nowhere) return;
  const bool is_heirs = heir && c.found && is_heir_of(*heir, *c.found);
  if (c.file != nullptr && (is_heirs || may_go(s, c, n)) && s.log_paths->remove(n)) return;
  s.log_paths->set_aside(n);
}

}  // namespace scute::core::engine

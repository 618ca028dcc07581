// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/log_file/log_in_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "base/rounding.hpp"
#include "core/engine/speculative/log_file/file_pages.hpp"
#include "core/engine/speculative/log_file/log_candidate.hpp"
#include "core/engine/speculative/recovery/truncation_point.hpp"
#include "core/shared/pool/session_number.hpp"

namespace scute::core::engine {
namespace {

using candidate = log_candidate;
using medium::log_paths;

// The command that continues without the log. A user knows a sidecar by the file that it protects.
std::string command_without(const pool::state& s) {
  return "`scute " + (s.user == nullptr ? "check " + s.path : "shield check " + s.user->path()) +
         " --repair --without-log`";
}

[[noreturn]] void refuse(const pool::state& s, const std::string& file, const candidate& c) {
  throw failure(
      c.code,
      s.path + ": its log " + file + " " + c.misfit +
          ". The pool was not closed properly, and the transactions of its last moments are in "
          "that file alone; without them the pool is not consistent. Restore the log next to the "
          "pool (both files of the same moment belong together), or restore both from a backup. To "
          "continue without these transactions: " +
          command_without(s) + " (SCUTE_WITHOUT_LOG). Nothing was changed");
}

// The log that was just made is not there any more: another process makes a pool of the same name.
[[noreturn]] void taken_away(const pool::state& s, const candidate& c) {
  throw failure(SCUTE_E_BUSY, s.path +
                                  ": another process makes a log here, and the one that was "
                                  "just made " +
                                  c.misfit + "; try again");
}

[[noreturn]] void no_place(const pool::state& s) {
  throw failure(SCUTE_E_UNSUPPORTED,
                s.path + " keeps its log in a separate file, which this medium does not support");
}

}  // namespace

log_in_file::log_in_file(pool::state& s, std::unique_ptr<medium::medium> file, const log_head& head,
                         frames are) noexcept
    : s_(s),
      file_(std::move(file)),
      length_(file_->size()),
      w_(*file_),
      head_(head),
      was_closed_(static_cast<head_state>(head.state) == head_state::closed) {
  const std::optional<log_head> first = head_in(*file_, 0), second = head_in(*file_, 1);
  // A copy that cannot be read is written only after its page is renewed.
  counts_ = first && (!second || first->number >= second->number) ? 0 : 1;
  copies_[0] = first.value_or(head);
  copies_[1] = second.value_or(head);
  head_.chunks = are == frames::void_ ? head.kept : static_cast<uint32_t>(whole_chunks());
}

// ---- making -------------------------------------------------------------------------------------

void log_in_file::make(pool::state& s, uint64_t cap, uint64_t epoch) {
  if (s.log_paths == nullptr) no_place(s);
  const std::string named = s.log_paths->path(log_paths::name::named);
  {
    const candidate there = look(s, log_paths::name::named, true);
    const bool may_go =
        (there.file == nullptr && !there.is_other) || there.is_replaced(s) || there.is_void(s);
    // Where a pool is replaced it may be that one's log, whose uuid cannot be read any more, or
    // that of an earlier one: a process died before it removed that.
    const bool may_be_replaced = there.found && s.log_paths->replaced();
    if (!may_go && !may_be_replaced && !there.is_of(s))
      throw failure(
          SCUTE_E_EXISTS,
          named +
              " exists already and is not this pool's log; if it belongs to no pool, remove it");
    if (!may_go) s.log_paths->set_aside(log_paths::name::named);
  }
  make_way(s, log_paths::name::coming);
  const segment_list plan = plan_log(s.geo, cap, true);
  log_head h{};
  std::memcpy(h.magic, format::log_file_magic, sizeof h.magic);
  std::memcpy(h.uuid, s.sb.uuid, sizeof h.uuid);
  note_replaced(h, s.log_paths->replaced().value_or(medium::pool_uuid{}));
  h.segment_size = plan.segment_size;
  h.chunk_size = s.geo.chunk_size;
  h.redundancy = static_cast<uint32_t>(plan.how);
  const size_t chunks = chunks_of_log(s.geo, plan, cap, true);
  if (chunks > log_chunks_max / 2)
    throw failure(SCUTE_E_RANGE, s.path + ": a log of " + std::to_string(cap) +
                                     " bytes is too large; choose a smaller log-cap");
  h.chunks = h.kept = static_cast<uint32_t>(chunks);
  std::unique_ptr<medium::medium> file = s.log_paths->make(size_of(h));
  const format::superblock before = s.sb;
  try {
    log_in_file made(s, std::move(file), h, frames::void_);
    made.announce(epoch);
  } catch (...) {
    s.sb = before;  // a session that does not come has no number
    s.log_paths->remove(log_paths::name::coming);
    throw;
  }
}

void log_in_file::name(pool::state& s) {
  if ((s.sb.incompat & format::incompat_log_file) != 0) {
    make_way(s, log_paths::name::named);
    return s.log_paths->give_name();
  }
  // Removes the log of the pool that was here before.
  if (s.log_paths == nullptr || !s.log_paths->replaced()) return;
  if (look(s, log_paths::name::named, true).is_replaced(s)) make_way(s, log_paths::name::named);
}

void log_in_file::name_unopened(log_paths& paths, const format::superblock& sb) {
  if ((sb.incompat & format::incompat_log_file) == 0) return;
  const auto is_its = [&](const std::optional<log_head>& h) {
    return h && std::memcmp(h->uuid, sb.uuid, sizeof h->uuid) == 0;
  };
  std::optional<log_head> of_named, of_coming;
  bool is_free = false;
  {
    const auto named = paths.open(log_paths::name::named, medium::access::read);
    const auto coming = paths.open(log_paths::name::coming, medium::access::read);
    is_free = named == nullptr;
    if (named != nullptr) of_named = newest_head(*named);
    if (coming != nullptr) of_coming = newest_head(*coming);
  }
  if (is_its(of_named) || !is_its(of_coming)) return;
  if (!is_free && !of_named) return;  // making the new pool's log reports that it is none
  const bool may_go = of_named && is_heir_of(*of_coming, *of_named);
  if (!is_free && !(may_go && paths.remove(log_paths::name::named)))
    paths.set_aside(log_paths::name::named);
  paths.give_name();
}

void log_in_file::remove_unopened(log_paths& paths, const format::superblock& sb) {
  const auto is_its = [&](log_paths::name n) {
    try {
      const std::unique_ptr<medium::medium> file = paths.open(n, medium::access::read);
      const std::optional<log_head> h = file == nullptr ? std::nullopt : newest_head(*file);
      // A log of a newer library stays: it may hold what this one cannot read.
      return h && std::memcmp(h->uuid, sb.uuid, sizeof h->uuid) == 0 &&
             h->version <= format::log_file_version;
    } catch (const failure&) {
      return false;  // no log
    }
  };
  for (const auto n : {log_paths::name::named, log_paths::name::coming})
    if (is_its(n) && !paths.remove(n))
      if (const int e = errno; e != ENOENT) throw_errno("remove " + paths.path(n), e);
}

void log_in_file::remove_stale(pool::state& s) noexcept {
  if (s.log_paths == nullptr || s.read_only || (s.sb.incompat & format::incompat_log_file) != 0)
    return;
  clear_coming(s);
  try {
    if (look(s, log_paths::name::named, true).is_of(s)) make_way(s, log_paths::name::named);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it does no harm there
  }
}

std::unique_ptr<log_in_file> log_in_file::find(pool::state& s, bool clean) {
  if (s.log_paths == nullptr) no_place(s);
  if (s.read_only && clean) return nullptr;
  const frames are = clean ? frames::void_ : frames::needed;
  candidate named = look(s, log_paths::name::named, clean);
  if (named.fits()) {
    if (!s.read_only) clear_coming(s);
    return std::unique_ptr<log_in_file>(
        new log_in_file(s, std::move(named.file), *named.found, are));
  }
  candidate coming = look(s, log_paths::name::coming, clean);
  if (coming.fits()) {
    if (!s.read_only) {
      named.file.reset();
      make_way(s, log_paths::name::named, coming.found);
      s.log_paths->give_name();
    }
    return std::unique_ptr<log_in_file>(
        new log_in_file(s, std::move(coming.file), *coming.found, are));
  }
  if (clean) {
    named.file.reset();
    coming.file.reset();
    return recreate(s);
  }
  refuse(s, s.log_paths->path(log_paths::name::named),
         !named.is_there() && coming.is_there() ? coming : named);
}

bool log_in_file::give_up(pool::state& s) {
  if (s.log_paths == nullptr) no_place(s);
  for (const auto n : {log_paths::name::named, log_paths::name::coming})
    if (look(s, n, false).fits()) return true;
  if (look(s, log_paths::name::named, false).is_there())
    s.log_paths->set_aside(log_paths::name::named);
  make_way(s, log_paths::name::coming);
  return false;
}

std::unique_ptr<log_in_file> log_in_file::seen(pool::state& s) {
  if (s.log_paths == nullptr) return nullptr;
  candidate c = look(s, log_paths::name::named, true);
  // Its epoch may differ: this session has an epoch of its own, even if it only reads. A log that
  // makes no sense is not read any further.
  if (c.file == nullptr || !c.is_of(s) || c.found->version > format::log_file_version ||
      nonsense(s, *c.found) != nullptr || c.file->size() < size_of(*c.found))
    return nullptr;
  return std::unique_ptr<log_in_file>(
      new log_in_file(s, std::move(c.file), *c.found, frames::void_));
}

std::unique_ptr<log_in_file> log_in_file::recreate(pool::state& s) {
  {
    const candidate there = look(s, log_paths::name::named, true);
    if (there.is_there() && !there.is_closed()) s.log_paths->set_aside(log_paths::name::named);
  }
  make(s, s.sb.log_cap, s.sb.epoch + 1);
  make_way(s, log_paths::name::named);
  s.log_paths->give_name();
  candidate c = look(s, log_paths::name::named, true);
  if (!c.fits()) taken_away(s, c);
  return std::unique_ptr<log_in_file>(
      new log_in_file(s, std::move(c.file), *c.found, frames::void_));
}

std::unique_ptr<log_in_file> log_in_file::made(pool::state& s) {
  candidate c = look(s, log_paths::name::coming, true);
  if (!c.fits()) taken_away(s, c);
  return std::unique_ptr<log_in_file>(
      new log_in_file(s, std::move(c.file), *c.found, frames::void_));
}

// ---- the head -----------------------------------------------------------------------------------

void log_in_file::fence() {
  w_.fence(fence_site::log_file);
  if (!file_->failed()) return;
  s_.medium->fail_with(file_->failure());
  s_.require_healthy();
}

// Renews lost pages of the heads, of which one that counts can be read, and of the truncation
// point. Afterwards the truncation point is in both of its pages.
void log_in_file::renew_first_pages() {
  const truncation_found h = read_truncation_point(s_, *this);
  if (renew_lost_pages(w_, 0, format::log_file_chunks_offset) == 0) return;
  if (h.lsn != 0) stream_truncation_point(s_, *this, w_, h);
  fence();
}

void log_in_file::stream_copy(int copy) {
  w_.stream(file_->base() + log_head_at[copy], &copies_[copy], sizeof copies_[copy],
            medium::purpose::log);
}

// The copy that counts may only be streamed, or be in the page cache, from a dead process. The
// fence makes the length of the file durable as well.
void log_in_file::make_head_durable() {
  if (copies_[counts_].checksum != checksum_of(copies_[counts_])) return;  // of a new file
  stream_copy(counts_);
  fence();
  durable_ = true;
}

// LOGFILE-3
void log_in_file::write_next_head() {
  ++head_.number;
  head_.checksum = checksum_of(head_);
  counts_ = 1 - counts_;
  copies_[counts_] = head_;
  durable_ = false;
  stream_copy(counts_);
}

void log_in_file::write_head(uint64_t epoch, format::log_file_state state) {
  const locked turn(mutex_);
  if (s_.read_only) return;
  if (!durable_) make_head_durable();
  const bool is_first = !std::exchange(written_, true);
  if (is_first) renew_first_pages();
  head_.epoch = epoch;
  head_.state = static_cast<uint32_t>(state);
  head_.version = state == format::log_file_state::closed ? format::log_file_version_closed
                                                          : format::log_file_version;
  write_next_head();
  fence();
  // The one that counts is written last.
  const int last = 1 - counts_;
  copies_[last] = head_;
  stream_copy(last);
  fence();
  durable_ = true;
  // LOGFILE-10
  const uint64_t end = chunk_at(head_.chunks);
  if (is_first && file_->size() > end) s_.log_paths->resize(*file_, end);
  length_.store(file_->size(), std::memory_order_relaxed);
}

void log_in_file::announce(uint64_t epoch) {
  if (s_.read_only) return;
  pool::number_session(s_, epoch);
  pool::copy_session(s_.sb, head_);
  write_head(epoch, head_state::coming);
}

// LOGFILE-6. With two copies of a log each has the same number.
uint64_t log_in_file::whole_chunks() const noexcept {
  const uint64_t all = (file_->size() - format::log_file_chunks_offset) / head_.chunk_size;
  const bool two = head_.redundancy == static_cast<uint32_t>(log::redundancy::two_copies);
  return round_down(std::min<uint64_t>(all, chunks_max()), two ? 2 : 1);
}

segment_list log_in_file::read() const {
  segment_list list;
  list.number = head_.number;
  list.segment_size = head_.segment_size;
  list.how = static_cast<log::redundancy>(head_.redundancy);
  list.kept = head_.kept;
  const uint64_t chunks = whole_chunks();
  for (uint64_t i = 0; i < chunks; ++i) list.chunks.push_back(chunk_at(i));
  return list;
}

// LOGFILE-6
void log_in_file::write(medium::writer&, segment_list& list) {
  const auto chunks = static_cast<uint32_t>(list.chunks.size());
  if (chunks < std::exchange(head_.chunks, chunks)) {
    write_head(head_.epoch, static_cast<head_state>(head_.state));
  } else {
    const locked turn(mutex_);
    write_next_head();
  }
  list.number = head_.number;
}

// The head has all that is stored of a list.
std::vector<log_location::list_copy> log_in_file::list_copies(const segment_list&) {
  const locked turn(mutex_);
  // No thread reads what is only streamed.
  if (written_ && !durable_) make_head_durable();
  std::vector<list_copy> all;
  for (size_t copy = 0; copy < 2; ++copy) {
    const auto bytes = std::as_bytes(std::span(&copies_[copy], 1));
    all.push_back({log_head_at[copy], {bytes.begin(), bytes.end()}});
  }
  return all;
}

void log_in_file::keep(medium::writer&, const segment_list&) {
  {
    const locked turn(mutex_);
    if (s_.read_only) return;
    renew_first_pages();
    if (const truncation_found h = read_truncation_point(s_, *this); h.lsn != 0)
      stream_truncation_point(s_, *this, w_, h);
    fence();
  }
  write_head(head_.epoch, static_cast<head_state>(head_.state));
}

// LOGFILE-6
std::vector<uint64_t> log_in_file::lend(pool::lane&, const segment_list& list, size_t chunks) {
  const size_t has = list.chunks.size();
  const auto grow = [&](size_t by) { s_.log_paths->resize(*file_, chunk_at(has + by)); };
  // Each growth waits for a sync.
  size_t by = std::min(std::max<size_t>(chunks, head_.kept), chunks_max() - has);
  try {
    grow(by);
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_NOSPC || by == chunks) throw;
    grow(by = chunks);
  }
  length_.store(file_->size(), std::memory_order_relaxed);
  const locked turn(mutex_);
  make_head_durable();
  std::vector<uint64_t> more;
  for (size_t i = 0; i < by; ++i) more.push_back(chunk_at(has + i));
  return more;
}

void log_in_file::take_back(pool::lane&, std::vector<uint64_t>& chunks) {
  if (!chunks.empty()) s_.log_paths->resize(*file_, chunks.front());
  length_.store(file_->size(), std::memory_order_relaxed);
  chunks.clear();
}

uint64_t log_in_file::file_size(const pool::state& s) noexcept {
  try {
    const candidate c = look(s, log_paths::name::named, true);
    return c.is_of(s) ? c.file->size() : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace scute::core::engine

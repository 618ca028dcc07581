// SPDX-License-Identifier: BSD-3-Clause
// Foreign pools: finds the user's file, compares it with the superblock's record, joins it to the
// pool, and makes it longer.
//
// IDENT-1 After a clean close the superblock has the file's inode, size and times. A file of
//    another size is refused. If its inode or times differ, it is examined read-only before
//    anything is written. If every checksum and every column is right, its content is unchanged;
//    otherwise it is refused.
// IDENT-2 After any other end the times prove nothing. A file of another inode or size is refused;
//    other differences in it are damage.
// IDENT-3 Before the file gets longer the superblock has its future size. After a crash in a
//    growth, a size from the old to the future one is therefore not another program's doing. The
//    opening finishes the growth.
//
// About IDENT-1: the ctime of a guarded file proves nothing, since each opening changes its
// permissions. So it is identified by inode, size and mtime. A refusal is necessary, since a repair
// could undo what another program has written there on purpose. `--damaged` says that it is damage.
// That does not help where FILE.scute has a second name and a record of another inode: then its
// content is the other file's.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "base/locks/lock.hpp"
#include "base/process/open_guarded.hpp"
#include "core/heap/foreign_span.hpp"
#include "core/medium/guarded_user_file.hpp"
#include "core/scrub/check.hpp"
#include "core/session/instance.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core {
namespace {

// How the user restores the file's old content, if it can be restored.
std::string way_back(const std::string& file, const std::string& first = {}) {
  return "; if the file is damaged, and its old content is wanted, " + first +
         "repair it with `scute shield check --repair --damaged " + file + "`";
}

[[noreturn]] void changed(const std::string& file, const std::string& how,
                          const std::string& back) {
  throw failure(SCUTE_E_CHANGED,
                file + " was changed without Scute: " + how +
                    ". If the change is correct, accept it with `scute shield adopt " + file + "`" +
                    back);
}

std::string bytes(uint64_t n) {
  return std::to_string(n) + " bytes";
}

// Two names of one FILE.scute seem to protect two files. It has the content of one of them, which
// the inode identifies.
bool has_further_names(const std::string& path) noexcept {
  struct stat st{};
  return ::stat(path.c_str(), &st) == 0 && st.st_nlink > 1;
}

// GUARDED-2: takes away permissions that a killed opening has left, or that a user has set by hand.
void take_permissions_away(pool::state& s) {
  if (s.sb.foreign.guard == 0) return;
  guard_lock alone;
  static_cast<void>(alone.take(s.path.c_str()));
  if (s.user->mode() != 0) s.user->set_mode(0);
}

}  // namespace

void instance::find_user_file(const scute_options& o) {
  const format::foreign_record& r = s.sb.foreign;
  s.foreign = pool::read_foreign(s.sb, s.geo);
  if (s.user == nullptr) {
    const std::string file = medium::user_file_of(s.path);
    if (file.empty())
      throw failure(SCUTE_E_FORMAT, s.path +
                                        " protects another file, FILE, and must have the name "
                                        "FILE.scute next to it; rename it");
    try {
      s.user = medium::open_user_file(
          file, s.read_only ? medium::access::read : medium::access::write, r.guard & 0777);
    } catch (const failure& e) {
      if (e.code() != SCUTE_E_NOENT) throw;
      throw failure(SCUTE_E_NOENT, file + " is missing, but " + s.path +
                                       " protects it; restore it, or remove " + s.path);
    }
  }
  medium::file_identity now = s.user->look();
  const std::string& file = s.user->path();
  const bool as_damage = (o.flags & SCUTE_DAMAGED) != 0;
  const bool grew = now.size > r.size && now.size <= r.growth;
  if (as_damage && now.inode != r.inode && has_further_names(s.path))
    throw failure(
        SCUTE_E_CHANGED,
        s.path + " has further names (hard links), and what it protects is another file than " +
            file +
            "; so no repair puts its content there. Remove the name that is the wrong one, or make "
            "a copy of it");
  if (s.sb.clean != 0 && as_damage && now.size < r.size && !s.read_only) {
    s.user->grow(r.size);
    now = s.user->look();
  }
  if (now.size != r.size && !grew)
    changed(file, "it has " + bytes(now.size) + ", and had " + bytes(r.size),
            // Only after a clean close does --damaged restore the length by itself (above).
            now.size < r.size && s.sb.clean != 0
                ? way_back(file)
                : way_back(file, "give it its length with `truncate -s " + std::to_string(r.size) +
                                     " " + file + "`, and "));
  if (s.sb.clean == 0 && now.inode != r.inode)
    changed(file,
            "it is another file than the one that was in use when " + s.path +
                " was not closed properly",
            "; if its old content is wanted, move the original file back, not a copy");
  const medium::file_identity then{r.inode, now.size, r.mtime_ns, r.ctime_ns};
  if (s.sb.clean != 0 && !medium::is_same(now, then, r.guard != 0) && !as_damage && !accepted_)
    throw unknown_user_file();
  s.user->join(*s.medium, s.foreign->segments(s.geo),
               std::min(now.size, s.foreign->capacity(s.geo)), medium::medium::sharing::shared);
  if (s.read_only) return;
  // For the case that this session does not end properly.
  s.sb.foreign.inode = now.inode;
  try {
    take_permissions_away(s);
  } catch (const failure&) {  // NOLINT(bugprone-empty-catch): they are its owner's to take
  }
}

// IDENT-1
void instance::require_unchanged(const std::string& path, const scute_options& o) {
  scute_options look = o;
  look.flags |= SCUTE_READONLY;
  look.event = nullptr;
  look.policy = SCUTE_POLICY_DEFAULT;
  const std::unique_ptr<instance> in = open_accepted(path, look);
  scute_report report{};
  scrub::check_options how;
  how.progress = o.progress;
  how.arg = o.progress_arg;
  how.engine = in->engine.get();
  scrub::check(in->s, *in->heap, how, report);
  if (report.damaged != 0)
    changed(in->s.user->path(),
            "checksums or parity fail in " + std::to_string(report.damaged) +
                " places, and its inode or times are others",
            way_back(in->s.user->path()));
  // The examination may have repaired pages in its own copy, on its way to damage in FILE.scute.
  if (const std::optional<uint64_t> at = in->first_repaired_byte())
    changed(
        in->s.user->path(),
        "the checksum fails at byte " + std::to_string(*at) + ", and its inode or times are others",
        way_back(in->s.user->path()));
}

// The first byte of FILE that differs from the memory of this read-only session.
std::optional<uint64_t> instance::first_repaired_byte() const {
  const medium::segments where = s.foreign->segments(s.geo);
  const uint64_t size = std::min(s.user->look().size, where.room());
  std::vector<std::byte> file(format::page);
  for (uint64_t at = 0; at < size; at += format::page) {
    const uint64_t n = std::min(format::page, size - at);
    const uint64_t place = where.place_of(at);
    if (!s.medium->read(place, file.data(), n)) return at;
    const auto [mine, theirs] =
        std::mismatch(file.begin(), file.begin() + static_cast<ptrdiff_t>(n), s.at(place));
    if (mine != file.begin() + static_cast<ptrdiff_t>(n))
      return at + static_cast<uint64_t>(mine - file.begin());
  }
  return {};
}

// Records the file's identity at a clean close.
void instance::note_user_file() {
  if (!s.foreign) return;
  auto& r = s.sb.foreign;
  take_permissions_away(s);
  const medium::file_identity now = s.user->look();
  r.inode = now.inode;
  r.mtime_ns = now.mtime_ns;
  r.ctime_ns = now.ctime_ns;
}

// IDENT-3
void instance::finish_growth() {
  if (!s.foreign) return;
  auto& r = s.sb.foreign;
  const uint64_t there = s.user->look().size;
  const uint64_t covered = heap::covered_by_spans(s, *heap, there);
  if (covered > there || (covered < r.size && r.growth == 0))
    throw failure(SCUTE_E_CORRUPT, s.path + " covers " + bytes(covered) + " of " + s.user->path() +
                                       ", which has " + bytes(there) +
                                       "; make a new pool with `scute shield adopt`");
  if (covered < there && !s.read_only) {
    heap::grow_foreign_spans(s, *heap, relay, s.lanes.front(), there);
    s.require_healthy();
  }
  const uint64_t size = s.read_only ? covered : there;
  if (r.size == size && r.growth == 0) return;
  r.size = size;
  r.growth = 0;
  pool::write_superblock(s.service_alone(), s.sb);
  s.require_healthy();
}

namespace {

void require_capacity(const pool::state& s, uint64_t size) {
  if (s.read_only) throw failure(SCUTE_E_READONLY, s.path + " was opened read-only");
  if (size > s.foreign->capacity(s.geo))
    throw failure(SCUTE_E_RANGE, s.path + " was made for " + bytes(s.foreign->capacity(s.geo)) +
                                     " of " + s.user->path() +
                                     " at most; to make it longer close it, extend it, and make a "
                                     "new pool with `scute shield adopt --capacity SIZE " +
                                     s.user->path() + "`");
}

}  // namespace

void instance::reserve_user_file(uint64_t size) {
  require_capacity(s, size);
  s.user->reserve(size);
}

void instance::grow_user_file(uint64_t size) {
  auto& r = s.sb.foreign;
  require_capacity(s, size);
  if (size <= r.size) {
    if (size == r.size) return;
    throw failure(SCUTE_E_RANGE,
                  s.user->path() + " has " + bytes(r.size) + "; a shielded file cannot shrink");
  }
  s.require_healthy();
  const auto write = [&](uint64_t covered, uint64_t growth) {
    const locked alone(s.service_mutex);
    std::atomic_ref(r.size).store(covered, std::memory_order_release);  // readers may be running
    r.growth = growth;
    pool::write_superblock(*s.service, s.sb);
  };
  const uint64_t before = r.size;
  write(before, size);
  s.require_healthy();
  tx::transaction& t = acquire();
  try {
    heap::clear_foreign_slack(s, *heap, relay, t.lane(), before);
    try {
      s.user->grow(size);
    } catch (...) {
      write(before, 0);
      throw;
    }
    s.medium->extend_joined(size);
    heap::grow_foreign_spans(s, *heap, relay, t.lane(), size);
    s.require_healthy();
    release(t);
  } catch (...) {
    release(t);
    throw;
  }
  write(size, 0);
  s.require_healthy();
}

}  // namespace scute::core

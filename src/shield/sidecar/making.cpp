// SPDX-License-Identifier: BSD-3-Clause
#include "shield/sidecar/making.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "base/failure.hpp"
#include "base/held_point.hpp"
#include "base/locks/supervisor_lock.hpp"
#include "base/process/open_guarded.hpp"
#include "core/file/descriptor.hpp"
#include "core/file/new_file.hpp"
#include "core/file/our_file.hpp"
#include "core/medium/guarded_user_file.hpp"
#include "core/medium/mapped_medium.hpp"
#include "core/medium/user_file.hpp"
#include "core/scrub/check.hpp"
#include "core/session/instance.hpp"
#include "core/shared/pool/superblock.hpp"
#include "shield/sidecar/outlook.hpp"

namespace scute::core::shield {
namespace {

// An existing sidecar, locked.
struct old_sidecar {
  std::unique_ptr<medium::medium> bytes;
  std::optional<format::superblock> sb;  // none: damaged
};

[[noreturn]] void refuse_changed(const std::string& file, const std::string& sidecar) {
  std::string why = file;
  why.append(" is not the file that was in use when ").append(sidecar);
  why += " was not closed properly, so what that still holds for it has no place; remove ";
  why.append(sidecar).append(" by hand if nothing of that is wanted");
  throw failure(SCUTE_E_CHANGED, why);
}

old_sidecar lock_sidecar(const std::string& path) {
  old_sidecar old;
  old.bytes = medium::map_file(medium::file_handle::open(path, medium::access::write),
                               SCUTE_MEDIUM_AUTO, medium::access::read);
  try {
    old.sb = pool::read_superblock(*old.bytes, path).newest;
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_CORRUPT && e.code() != SCUTE_E_TRUNCATED) throw;
  }
  if (old.sb && (old.sb->incompat & format::incompat_foreign) == 0)
    throw failure(SCUTE_E_EXISTS,
                  path + " is a pool of its own, and protects no file; it is left alone");
  return old;
}

// SUPLOCK-4: a program that was faster than the lock has the file with its protection. why: the
// reason for which the protection was to be removed again.
old_sidecar lock_unless_used(const std::string& path, const failure& why) {
  try {
    return lock_sidecar(path);
  } catch (const failure& e) {
    throw failure(e.code(), std::string(why.what()) +
                                "; a program has it with its protection already, which stays; run "
                                "`scute shield check` when that has ended");
  }
}

medium::file_identity identity_now(const std::string& file) {
  struct stat st{};
  if (::stat(file.c_str(), &st) != 0) throw_errno("examine " + file, errno);
  return medium::identity_of(st);
}

bool is_there(const std::string& path) {
  struct stat st{};
  return ::lstat(path.c_str(), &st) == 0;
}

// Writes by another name would bypass the shield; and two shields of one file would undo each
// other's writes.
void require_one_name(const std::string& file) {
  struct stat st{};
  if (::stat(file.c_str(), &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1)
    throw failure(
        SCUTE_E_INVALID,
        file + " has " + std::to_string(st.st_nlink) +
            " names (hard links), and would be protected by this one alone; shield a copy "
            "of it, or remove the other names (find -samefile)");
}

struct made {
  format::superblock sb;       // of FILE.scute
  medium::file_identity file;  // FILE's identity when its checksums were made
  unsigned guard = 0;          // the permissions that were taken away
  supervisor_lock alone;       // while it is held no other process opens the pool (SUPLOCK-4)
  bool is_alone = false;       // it is held, or its maker may not write to the pool
};
made make(const std::string& file, const scute_options& options, const making& how,
          unsigned mode_to_open, unsigned mode_of_guard,
          std::optional<replaced_pool> replaced = {}) {
  const scute_options& o = options;
  const std::string real = medium::followed(file), sidecar = medium::sidecar_of(file);
  if (medium::leads_nowhere(file)) medium::refuse_dangling(SCUTE_E_NOENT, file);
  foreign_request request;
  request.replaced = replaced;
  request.file = medium::open_user_file(real, medium::access::write, mode_to_open);
  if (request.file->look().size == 0)
    throw failure(SCUTE_E_RANGE, file + " is empty; there is nothing to protect");
  request.capacity = how.capacity;
  request.guard =
      how.guard ? (mode_of_guard != 0 ? mode_of_guard : request.file->mode() & 0777) : 0;
  // Users who may read and write the file may do so with the pool that protects it.
  struct stat st{};
  if (::stat(real.c_str(), &st) != 0) throw_errno("examine " + file, errno);
  request.owner =
      medium::ownership(st, (request.guard != 0 ? request.guard : request.file->mode()) & 0666);
  const std::unique_ptr<instance> in = instance::create(sidecar, o, &request);
  made m;
  held_point();
  const int e = m.alone.take(sidecar);
  m.is_alone = e == 0 || e == EACCES || e == EPERM || e == EROFS;
  in->close();
  m.sb = in->s.sb;
  m.file = request.seen;
  m.guard = request.guard;
  return m;
}

void sync_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  const medium::descriptor d(open_registered(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (d.get() < 0) return ::sync();
  if (::fsync(d.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    throw_errno("write the folder of " + path, errno);
}

// The permissions are durable before FILE.scute, which alone has them, is removed (MAKE-3): not
// every file system keeps this order by itself.
void give_back_permissions(const std::string& file, unsigned mode) {
  if (::chmod(file.c_str(), mode) != 0) throw_errno("give back the permissions of " + file, errno);
  medium::descriptor d(open_registered(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (d.get() < 0 && errno == EACCES)
    d.reset(open_registered(file.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (d.get() < 0) return ::sync();
  if (::fsync(d.get()) != 0) throw_errno("write " + file, errno);
}

unsigned guarded_mode(const old_sidecar& old) {
  return old.sb && old.sb->foreign.guard != 0 ? old.sb->foreign.guard & 0777 : 0;
}

// Removes FILE.scute. FILE has all of its content, and no process has it open. mode: permissions
// that FILE gets back; 0: it has them.
void take_away(const std::string& file, const std::string& sidecar, const format::superblock& sb,
               unsigned mode) {
  guard_lock alone;  // GUARDED-2
  if (mode != 0 && alone.take(sidecar.c_str()) == EBUSY)
    throw failure(
        SCUTE_E_BUSY,
        file + " is being opened by another process that does not finish; try again in a moment");
  if (mode != 0) give_back_permissions(file, mode);
  instance::remove_log_of(sidecar, sb);
  if (!medium::remove_ours(sidecar)) throw_errno("remove " + sidecar, errno);
  sync_folder(sidecar);
}

}  // namespace

void add(const std::string& file, const scute_options& options, const making& how) {
  if (file.empty()) throw failure(SCUTE_E_NOENT, "no file is named");
  const std::string sidecar = medium::sidecar_of(file);
  if (is_there(sidecar)) {
    static_cast<void>(protection_of(file, SCUTE_E_EXISTS));
    throw failure(SCUTE_E_EXISTS, file + " is shielded already by " + sidecar +
                                      "; to replace that use `scute shield adopt`");
  }
  if (file.ends_with(medium::sidecar_suffix))
    throw failure(SCUTE_E_INVALID, file + " has the name of a pool that protects another file");
  medium::require_unused(file);
  require_one_name(file);
  scute_options o = options;
  o.flags &= ~uint32_t{SCUTE_OVERWRITE};
  const made m = make(file, o, how, 0, 0);
  try {
    medium::require_unused(medium::followed(file), m.guard);
    if (!medium::is_same(identity_now(file), m.file, m.guard != 0))
      throw failure(SCUTE_E_CONFLICT, file + " was changed while its protection was made");
  } catch (const failure& e) {
    std::optional<old_sidecar> mine;
    if (!m.is_alone) mine = lock_unless_used(sidecar, e);
    take_away(file, sidecar, m.sb, m.guard);
    throw failure(e.code(), std::string(e.what()) +
                                "; the file is not protected; try again when no process uses it");
  }
}

void adopt(const std::string& file, const scute_options& options, const making& how, bool keep) {
  const std::string sidecar = protection_of(file, SCUTE_E_EXISTS);
  const old_sidecar old = lock_sidecar(sidecar);
  medium::require_unused(medium::followed(file), guarded_mode(old));
  scute_options o = options;
  making as = how;
  as.guard = as.guard || guarded_mode(old) != 0;  // its permissions are recorded nowhere else
  if (keep && old.sb) {
    o.engine = static_cast<scute_engine>(old.sb->engine);
    o.protection = static_cast<scute_protection>(old.sb->protection);
    o.checksum = static_cast<scute_checksum>(old.sb->checksum_kind);
    o.parity = old.sb->parity;
    o.rows = old.sb->foreign.rows;
    o.lanes = old.sb->lane_count;
    const uint64_t capacity = old.sb->foreign.share * old.sb->zone_count;
    // Headers alone are a 128th of the capacity: a superblock that claims more than the sidecar has
    // room for is not believed.
    const uint64_t plausible = old.bytes->size() * (format::fragment_payload / format::header_size);
    struct stat st{};
    if (as.capacity == 0 && ::stat(file.c_str(), &st) == 0 &&
        static_cast<uint64_t>(st.st_size) <= capacity && capacity <= plausible)
      as.capacity = capacity;
  }
  o.flags |= SCUTE_OVERWRITE;
  make(file, o, as, guarded_mode(old), guarded_mode(old), replaced_pool{old.sb});
}

namespace {

// MAKE-4
void repair_all(instance& in, const std::string& file, const scute_options& o) {
  scrub::check_options how;
  how.repair = true;
  how.progress = o.progress;
  how.arg = o.progress_arg;
  how.engine = in.engine.get();
  scute_report r{};
  in.resolving.finish(o.progress, o.progress_arg);
  in.repair_bad_pages(SCUTE_FINDER_CHECK);
  if (!in.s.has_checksums) return;  // without checksums damage cannot be found
  scrub::check(in.s, *in.heap, how, r);
  if (r.lost == 0) return;
  in.close();
  throw failure(SCUTE_E_CORRUPT, file + ": damaged beyond repair at this number of places: " +
                                     std::to_string(r.lost) + "; only " + in.s.path +
                                     " knows where (`scute shield check`). To keep the file as it "
                                     "is, run `scute shield adopt` first");
}

}  // namespace

void remove(const std::string& file, const scute_options& options) {
  const std::string sidecar = protection_of(file);
  for (;;) {
    bool changed = false;
    try {
      const std::unique_ptr<instance> in = instance::open(sidecar, options);
      repair_all(*in, file, options);
      // The log is about to be removed, so nothing may stay in it (MAKE-3).
      if (pool::find_engine(in->s.sb.engine)->log_in_chunks)
        in->set_engine(pool::lender_of_logs(in->s.geo.parity), 0);
      in->close();
    } catch (const failure& e) {
      if (e.code() != SCUTE_E_CHANGED) throw;
      changed = true;
    }
    const old_sidecar old = lock_sidecar(sidecar);
    const bool clean = old.sb && old.sb->clean != 0;
    if (!clean && changed) refuse_changed(file, sidecar);
    if (!clean) continue;  // another process had it in between
    return take_away(file, sidecar, *old.sb, guarded_mode(old));
  }
}

}  // namespace scute::core::shield

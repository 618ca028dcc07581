// SPDX-License-Identifier: BSD-3-Clause
#include "shield/sidecar/outlook.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>

#include "base/failure.hpp"
#include "core/file/descriptor.hpp"
#include "core/file/new_file.hpp"
#include "core/medium/guarded_user_file.hpp"
#include "core/medium/mapped_medium.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::core::shield {
namespace {

struct sidecar_look {
  format::superblock sb;
  bool in_use = false;
};

// Throws unless the sidecar is a file. No other kind of file is opened.
void require_sidecar(const std::string& file, const std::string& path) {
  struct stat st{};
  if (::lstat(path.c_str(), &st) != 0 && (errno == ENOENT || errno == ENOTDIR))
    throw failure(SCUTE_E_NOENT,
                  file + " is not shielded: there is no " + path + "; see `scute shield add`");
  if (medium::leads_nowhere(path))
    throw failure(SCUTE_E_FORMAT,
                  path +
                      " is a symbolic link to a missing file; correct the link, or remove it if " +
                      file + " is to be used without protection");
  if (::stat(path.c_str(), &st) != 0) throw_errno("examine " + path, errno);
  if (!S_ISREG(st.st_mode))
    throw failure(SCUTE_E_FORMAT, path +
                                      " is not a regular file, so it is no pool; outside of the "
                                      "shield, give it another name before " +
                                      file + " is shielded, or used under the shield");
  if (st.st_size == 0)
    throw failure(SCUTE_E_FORMAT, path + " is empty, so it is no pool; remove it if " + file +
                                      " is to be used without protection");
}

// Throws if the sidecar protects another file, as it may if a path is a symbolic link.
void require_protects(const std::string& file, const std::string& path, scute_error other) {
  const std::string named = medium::followed(file), its = medium::user_file_of(path);
  struct stat a{}, b{};
  if (named == its || its.empty()) return;
  if (::stat(named.c_str(), &a) == 0 && ::stat(its.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
      a.st_ino == b.st_ino)
    return;
  throw failure(other,
                path + " leads to what protects " + its + ", not " + named + "; remove that link");
}

// Examines the sidecar. other: thrown if it is a pool that does not protect the file.
sidecar_look look_at_sidecar(const std::string& file, const std::string& path, scute_error other) {
  require_sidecar(file, path);
  medium::descriptor d(open_registered(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat st{};
  if (d.get() < 0 || ::fstat(d.get(), &st) != 0) throw_errno("open " + path, errno);
  if (!S_ISREG(st.st_mode)) throw failure(SCUTE_E_FORMAT, path + " is not a regular file");
  // Tests the lock without taking it.
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool in_use = ::fcntl(d.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  const std::unique_ptr<medium::medium> bytes = medium::map_file(
      medium::file_handle::adopt(d.release(), path, static_cast<uint64_t>(st.st_size)),
      SCUTE_MEDIUM_AUTO, medium::access::read);
  const format::superblock sb = pool::read_superblock(*bytes, path).newest;
  if ((sb.incompat & format::incompat_foreign) == 0)
    throw failure(other, path +
                             " is a pool of its own; it protects no other file. Outside of the "
                             "shield, give it another name before " +
                             file + " is shielded, or used under the shield");
  require_protects(file, path, other);
  return {sb, in_use};
}

// Returns false if there is no such file. Works for files that no user may open.
bool look_at_file(const std::string& path, medium::file_identity& now) {
  const medium::descriptor d(open_registered(path.c_str(), O_PATH | O_CLOEXEC));
  if (d.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return false;
  struct stat st{};
  if (d.get() < 0 || ::fstat(d.get(), &st) != 0) throw_errno("examine " + path, errno);
  if (!S_ISREG(st.st_mode)) throw failure(SCUTE_E_FORMAT, path + " is not a regular file");
  now = medium::identity_of(st);
  return true;
}

// OUTLOOK-1
scute_shield_condition condition_of(const format::superblock& sb,
                                    const medium::file_identity& now) {
  const format::foreign_record& r = sb.foreign;
  const bool grew = now.size > r.size && now.size <= r.growth;
  if (now.size != r.size && !grew) return SCUTE_SHIELD_CHANGED;
  if (sb.clean == 0) return now.inode == r.inode ? SCUTE_SHIELD_UNCLEAN : SCUTE_SHIELD_CHANGED;
  const medium::file_identity then{r.inode, now.size, r.mtime_ns, r.ctime_ns};
  return medium::is_same(now, then, r.guard != 0) ? SCUTE_SHIELD_CLEAN : SCUTE_SHIELD_TOUCHED;
}

}  // namespace

std::string protection_of(const std::string& file, scute_error other) {
  std::string sidecar = medium::sidecar_of(file);
  try {
    static_cast<void>(look_at_sidecar(file, sidecar, other));
  } catch (const failure& e) {
    if (e.code() == SCUTE_E_NOENT || e.code() == SCUTE_E_FORMAT || e.code() == other) throw;
  }
  return sidecar;
}

outlook look(const std::string& file) {
  const std::string sidecar = medium::sidecar_of(file);
  const sidecar_look s = look_at_sidecar(file, sidecar, SCUTE_E_INVALID);
  outlook o;
  o.file = medium::user_file_of(sidecar);
  o.sb = s.sb;
  const bool there = look_at_file(o.file, o.now);
  o.condition = s.in_use ? SCUTE_SHIELD_IN_USE
                : !there ? SCUTE_SHIELD_MISSING
                         : condition_of(s.sb, o.now);
  return o;
}

}  // namespace scute::core::shield

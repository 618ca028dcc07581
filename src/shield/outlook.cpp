// SPDX-License-Identifier: BSD-3-Clause
#include "shield/outlook.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>

#include "base/failure.hpp"
#include "medium/descriptor.hpp"
#include "medium/guarded_user_file.hpp"
#include "medium/mapped_medium.hpp"
#include "pool/superblock.hpp"
#include "shield/making.hpp"

namespace scute::core::shield {
namespace {

struct sidecar_look {
  format::superblock sb;
  bool in_use = false;
};

sidecar_look look_at_sidecar(const std::string& path) {
  medium::descriptor d(open_registered(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat st{};
  if (d.get() < 0 || ::fstat(d.get(), &st) != 0) throw_errno("open " + path, errno);
  if (!S_ISREG(st.st_mode)) throw failure(SCUTE_E_FORMAT, path + " is not a regular file");
  // Asked for, and not taken.
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool in_use = ::fcntl(d.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  const std::unique_ptr<medium::medium> bytes = medium::map_file(
      medium::file_handle::without_lock(d.release(), path, static_cast<uint64_t>(st.st_size)),
      SCUTE_MEDIUM_AUTO, medium::access::read);
  return {pool::read_superblock(*bytes, path).newest, in_use};
}

// False: there is none. It may be one that nobody is allowed to open.
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

outlook look(const std::string& file) {
  const std::string sidecar = sidecar_of(file);
  const sidecar_look s = look_at_sidecar(sidecar);
  if ((s.sb.incompat & format::incompat_foreign) == 0)
    throw failure(SCUTE_E_INVALID, sidecar + " is a pool of its own; it protects no other file");
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

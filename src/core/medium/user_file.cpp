// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/user_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>
#include <utility>

#include "base/failure.hpp"
#include "base/process/open_guarded.hpp"
#include "base/process/thread_signals.hpp"
#include "core/file/descriptor.hpp"
#include "core/file/file_handle.hpp"
#include "core/file/new_file.hpp"
#include "core/medium/composition.hpp"
#include "core/medium/guarded_user_file.hpp"

namespace scute::core::medium {
namespace {

uint64_t ns_of(const timespec& t) noexcept {
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

struct stat status_of(int fd, const std::string& path) {
  struct stat st{};
  if (::fstat(fd, &st) != 0) throw_errno("examine " + path, errno);
  return st;
}

class plain_user_file final : public user_file {
 public:
  plain_user_file(file_handle file) : file_(std::move(file)) {}

  const std::string& path() const noexcept override { return file_.path(); }

  file_identity look() const override { return identity_of(status_of(file_.fd(), path())); }

  void join(medium& m, const segments& where, uint64_t size, medium::sharing how) const override {
    m.join(file_, where, size, how);
  }

  void grow(uint64_t size) override {
    const length_signal_held now;
    const uint64_t before = look().size;
    int e = size <= before ? 0 : file_.reserve(before, size - before);
    if (e == 0 && size > look().size && ::ftruncate(file_.fd(), static_cast<off_t>(size)) != 0)
      e = errno;
    if (e == 0 && ::fsync(file_.fd()) != 0) throw_errno("write " + path(), errno);
    if (e == 0) return;
    static_cast<void>(::ftruncate(file_.fd(), static_cast<off_t>(before)) == 0);
    throw_errno("make " + path() + " " + std::to_string(size) + " bytes long", e);
  }

  void reserve(uint64_t size) override {
    const length_signal_held now;
    const uint64_t before = look().size;
    if (size <= before) return;
    int e = 0;
    do {
      e = ::fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(before),
                      static_cast<off_t>(size - before)) == 0
              ? 0
              : errno;
    } while (e == EINTR);
    // EFBIG: a caller that extends it learns its limit then, and may write what fits.
    if (e != 0 && e != EOPNOTSUPP && e != ENOSYS && e != EFBIG)
      throw_errno("find room for " + std::to_string(size) + " bytes of " + path(), e);
  }

  unsigned mode() const override { return status_of(file_.fd(), path()).st_mode & 07777U; }
  void set_mode(unsigned bits) override {
    if (::fchmod(file_.fd(), bits) != 0) throw_errno("change the permissions of " + path(), errno);
  }

 private:
  const file_handle file_;
};

// mode: GUARDED-2, as of open_user_file(). -1 with errno.
int open_file(const std::string& path, int flags, unsigned mode) {
  const int fd = open_registered(path.c_str(), flags);
  if (fd >= 0 || errno != EACCES || mode == 0) return fd;
  const descriptor file(open_registered(path.c_str(), O_PATH | O_CLOEXEC));
  guard_lock alone;
  const int e = alone.take((path + sidecar_suffix).c_str());
  errno = e == EBUSY ? EBUSY : EACCES;
  if (file.get() < 0 || e == EBUSY) return -1;
  const given_permissions now(alone, file.get(), mode, flags);
  return now ? open_registered(now.name(), flags) : -1;
}

// Whether its owner may read it although its permissions were removed.
bool may_be_read(const std::string& path, unsigned mode) {
  struct stat st{};
  return (mode & 0400) != 0 && ::stat(path.c_str(), &st) == 0 && st.st_uid == ::geteuid();
}

[[noreturn]] void busy(const std::string& path, const char* why) {
  errno = EAGAIN;
  throw failure(SCUTE_E_BUSY, path + " is " + why +
                                  " another process; let it close the file first, so that no "
                                  "process writes to it while its checksums are made");
}

}  // namespace

file_identity identity_of(const struct stat& st) noexcept {
  return {st.st_ino, static_cast<uint64_t>(st.st_size), ns_of(st.st_mtim), ns_of(st.st_ctim)};
}

bool is_same(const file_identity& a, const file_identity& b, bool guarded) noexcept {
  file_identity other = b;
  if (guarded) other.ctime_ns = a.ctime_ns;
  return a == other;
}

std::string sidecar_of(const std::string& file) {
  return followed(file) + sidecar_suffix;
}

std::string user_file_of(const std::string& sidecar) {
  const std::string suffix = sidecar_suffix;
  const std::string real = followed(sidecar);
  if (real.size() <= suffix.size() || !real.ends_with(suffix)) return {};
  return real.substr(0, real.size() - suffix.size());
}

std::unique_ptr<user_file> open_user_file(const std::string& path, access how, unsigned mode) {
  const int flags = (how == access::read ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int fd = open_file(path, flags, mode);
  struct stat st{};
  if (fd < 0) {
    const int why = errno;
    if (why == ENOENT) throw failure(SCUTE_E_NOENT, path + ": there is no such file");
    if ((why == EACCES || why == EROFS) && how == access::write &&
        (::access(path.c_str(), R_OK) == 0 || may_be_read(path, mode)))
      throw failure(SCUTE_E_READONLY, path +
                                          " may only be read; change its permissions, or open its "
                                          "pool with SCUTE_READONLY");
    if (why == EBUSY)
      throw failure(
          SCUTE_E_BUSY,
          path + " is being opened by another process that does not finish; try again later");
    if (why == EISDIR) throw failure(SCUTE_E_FORMAT, path + " is a directory");
    throw_errno("open " + path, why);
  }
  descriptor mine(fd);
  st = status_of(fd, path);
  if (!S_ISREG(st.st_mode)) throw failure(SCUTE_E_FORMAT, path + " is not a regular file");
  return std::make_unique<plain_user_file>(
      file_handle::adopt(mine.release(), path, static_cast<uint64_t>(st.st_size)));
}

file_identity look_when_still(const user_file& file) {
  constexpr unsigned looks = 100;
  constexpr std::chrono::milliseconds pause{1};
  for (unsigned i = 0;; ++i) {
    timespec now{};
    const file_identity seen = file.look();
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (ns_of(now) > seen.ctime_ns || i == looks) return seen;
    std::this_thread::sleep_for(pause);
  }
}

void require_unused(const std::string& path) {
  require_unused(path, 0);
}

void require_unused(const std::string& path, unsigned mode) {
  const descriptor d(open_file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, mode));
  if (d.get() < 0) return;  // open_user_file() says why
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(d.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) busy(path, "locked by");
  if (::flock(d.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) busy(path, "locked by");
  } else {
    ::flock(d.get(), LOCK_UN);
  }
  // A read lease is refused while another process has the file open, or mapped, for writing. Only
  // the file's owner is granted one, and not every file system has them. If a process opens it at
  // this moment, this process gets a harmless signal.
  ::fcntl(d.get(), F_SETSIG, SIGURG);
  if (::fcntl(d.get(), F_SETLEASE, F_RDLCK) == 0)
    ::fcntl(d.get(), F_SETLEASE, F_UNLCK);
  else if (errno == EAGAIN)
    busy(path, "open for writing, or mapped, in");
}

}  // namespace scute::core::medium

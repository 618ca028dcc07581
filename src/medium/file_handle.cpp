// SPDX-License-Identifier: BSD-3-Clause
#include "medium/file_handle.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "medium/failure.hpp"
#include "medium/huge_pages.hpp"
#include "medium/process.hpp"

namespace scute::medium {
namespace {

constexpr long tmpfs_magic = 0x01021994;  // linux/magic.h
constexpr long hugetlbfs_magic = 0x958458f6;
constexpr size_t lock_size = 4096;

// What stays small is reserved by the caller.
void reserve_huge(int fd, uint64_t offset, uint64_t n) noexcept {
  void* at = map_aligned(n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  if (at == MAP_FAILED) return;
  make_huge(fd, offset, at, n);
  ::munmap(at, n);
}

}  // namespace

file_handle::~file_handle() {
  if (lock_ != nullptr) ::munmap(lock_, lock_size);
  if (fd_ >= 0) close_registered(fd_);
}

file_handle::file_handle(file_handle&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      lock_(std::exchange(other.lock_, nullptr)),
      size_(other.size_),
      path_(std::move(other.path_)) {}

file_handle& file_handle::operator=(file_handle&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(lock_, other.lock_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

void file_handle::lock(bool shared) {
  // An open-file-description lock also keeps out a second open in this very process, and goes away
  // with the process however it ends.
  struct flock request{};
  request.l_type = static_cast<short>(shared ? F_RDLCK : F_WRLCK);
  request.l_whence = SEEK_SET;
  // It is that of an open file of its own, which a mapping that nobody uses keeps (F3 in
  // medium/process.hpp). Where there can be none (no /proc, or permissions that let nobody open the file a
  // second time) the descriptor has to do.
  const std::string again = "/proc/self/fd/" + std::to_string(fd_);
  const std::lock_guard hold(process_tables());
  const int own = ::open(again.c_str(), (shared ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
  int why = ::fcntl(own >= 0 ? own : fd_, F_OFD_SETLK, &request) == 0 ? 0 : errno;
  const bool refused = why == EAGAIN || why == EACCES;
  if (why == 0 && own >= 0) {
    void* at = ::mmap(nullptr, lock_size, PROT_NONE, MAP_PRIVATE, own, 0);
    if (at == MAP_FAILED || ::madvise(at, lock_size, MADV_DONTFORK) != 0) why = errno;
    if (at != MAP_FAILED) lock_ = at;
  }
  if (own >= 0) ::close(own);
  if (refused)
    throw failure(SCUTE_E_BUSY, path_ +
                                    " is open in another process, or elsewhere in this one; close "
                                    "it there first");
  if (why != 0) throw_errno("lock " + path_, why);
}

file_handle file_handle::open(const std::string& path, bool read_only) {
  file_handle f;
  f.path_ = path;
  f.fd_ = open_registered(path.c_str(), (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
  if (f.fd_ < 0) {
    if (errno == ENOENT)
      throw failure(SCUTE_E_NOENT, "there is no pool at " + path +
                                       "; make one with scute_create() or `scute create`");
    if (errno == EISDIR) throw failure(SCUTE_E_FORMAT, path + " is a directory, so it is no pool");
    if ((errno == EACCES || errno == EROFS) && !read_only && ::access(path.c_str(), R_OK) == 0)
      throw failure(SCUTE_E_READONLY,
                    path +
                        " may only be read; open it with SCUTE_READONLY, or change its "
                        "permissions or its file system's");
    throw_errno("open " + path, errno);
  }
  struct stat st{};
  if (::fstat(f.fd_, &st) != 0) throw_errno("examine " + path, errno);
  if (!S_ISREG(st.st_mode))
    throw failure(SCUTE_E_FORMAT, path + " is not a regular file, so it is no pool");
  f.size_ = static_cast<uint64_t>(st.st_size);
  f.lock(read_only);
  return f;
}

file_handle file_handle::create(const std::string& path, uint64_t size, unsigned mode,
                                bool preallocate, void (*progress)(void*, uint64_t, uint64_t),
                                void* progress_arg) {
  file_handle f;
  f.path_ = path;
  f.fd_ = open_registered(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (f.fd_ < 0) {
    if (errno == EEXIST)
      throw failure(SCUTE_E_EXISTS, path + " exists already; choose another name or remove it");
    throw_errno("create " + path, errno);
  }
  f.size_ = size;
  try {
    f.lock(false);
    if (::ftruncate(f.fd_, static_cast<off_t>(size)) != 0)
      throw_errno("make " + path + " " + std::to_string(size) + " bytes long", errno);
    constexpr uint64_t step = uint64_t{64} << 20;
    const bool tmpfs = preallocate && f.on_tmpfs();
    for (uint64_t at = 0; preallocate && at < size; at += step) {
      const uint64_t n = std::min(step, size - at);
      if (tmpfs) reserve_huge(f.fd_, at, n);
      int e = 0;
      do {
        e = ::posix_fallocate(f.fd_, static_cast<off_t>(at), static_cast<off_t>(n));
      } while (e == EINTR);
      if (e != 0) throw_errno("reserve " + std::to_string(size) + " bytes for " + path, e);
      if (progress != nullptr) progress(progress_arg, at + n, size);
    }
  } catch (...) {
    const int keep = errno;
    ::unlink(path.c_str());
    errno = keep;
    throw;
  }
  return f;
}

bool file_handle::on_tmpfs() const {
  struct statfs fs{};
  if (::fstatfs(fd_, &fs) != 0) throw_errno("examine the file system of " + path_, errno);
  const auto type = static_cast<long>(fs.f_type);
  return type == tmpfs_magic || type == hugetlbfs_magic;
}

}  // namespace scute::medium

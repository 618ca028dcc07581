// SPDX-License-Identifier: BSD-3-Clause
#include "core/file/new_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/failure.hpp"
#include "base/locks/kept_lock.hpp"
#include "base/process/thread_signals.hpp"
#include "core/file/content_lock.hpp"
#include "core/file/descriptor.hpp"
#include "core/file/our_file.hpp"

namespace scute::core::medium {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string link_to(int fd) {
  return "/proc/thread-self/fd/" + std::to_string(fd);
}

// The target of a symbolic link; empty if there is none at path.
std::string link_text(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t n = ::readlink(path.c_str(), text, sizeof text);
  return n <= 0 ? std::string() : std::string(text, static_cast<size_t>(n));
}

[[noreturn]] void exists(const std::string& path) {
  const bool nowhere = leads_nowhere(path);
  errno = EEXIST;
  if (nowhere) refuse_dangling(SCUTE_E_EXISTS, path);
  throw failure(SCUTE_E_EXISTS, path + " exists already; choose another name or remove it");
}

[[noreturn]] void busy(const std::string& path) {
  errno = EAGAIN;
  throw failure(
      SCUTE_E_BUSY,
      path + " is being created by another process, or elsewhere in this one; try again later");
}

// Reports that another file has the temporary name.
[[noreturn]] void taken(const std::string& path) {
  const std::string name = temporary_name(path);
  const descriptor file(open_registered(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  kept_lock alone;
  if (file.get() >= 0 &&
      (is_unfinished(file.get()) ||
       (is_ours(file.get()) && alone.take(file.get(), of_content(access::write)) == EBUSY)))
    busy(path);
  errno = EEXIST;
  throw failure(SCUTE_E_EXISTS,
                name +
                    " is no file that Scute left unfinished, but Scute needs that name to create " +
                    path + "; move the file elsewhere");
}

}  // namespace

std::string temporary_name(const std::string& path) {
  return path + ".scute-new";
}

std::string followed(const std::string& path) {
  if (link_text(path).empty()) return path;
  char* const found = ::realpath(path.c_str(), nullptr);
  if (found == nullptr) return path;
  std::string target;
  try {
    target = found;
  } catch (...) {
    ::free(found);
    throw;
  }
  ::free(found);
  return target;
}

bool leads_nowhere(const std::string& path) {
  struct stat st{};
  if (::stat(path.c_str(), &st) == 0) return false;
  return (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) && !link_text(path).empty();
}

void refuse_dangling(scute_error code, const std::string& path) {
  const int keep = errno;
  std::string message =
      path + " is a symbolic link to " + link_text(path) +
      ", where there is no file; correct or remove the link, or make a pool there "
      "by its own name";
  errno = keep;
  throw failure(code, std::move(message));
}

void remove_leftover(const std::string& path) noexcept {
  try {
    const std::string to = followed(path), name = temporary_name(to);
    const descriptor file(
        open_registered(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (file.get() < 0) return;
    // The caller may have it locked by its other name: its maker died between giving it that one
    // and removing the first.
    kept_lock alone;
    if (!still_named(file.get(), to) && alone.take(file.get(), of_content(access::write)) != 0)
      return;
    if (is_unfinished(file.get())) unlink_named(file.get(), name);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it stays for the next one
  }
}

new_file::new_file(std::string path, const ownership& as, bool replace)
    : path_(std::move(path)), replace_(replace), lock_(std::make_shared<kept_lock>()) {
  // Fails early where publish() would fail in the end. (A link that leads nowhere counts as
  // existing.)
  if (!replace && (::access(path_.c_str(), F_OK) == 0 || leads_nowhere(path_))) exists(path_);
  if (replace) path_ = followed(path_);  // FILE-4
  // Opened now: once the file has its name nothing may fail.
  const std::string folder = folder_of(path_);
  folder_.reset(open_registered(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A user who may write to a folder may be unable to read it.
  if (folder_.get() < 0 && errno != EACCES) throw_errno("create " + path_, errno);
  remove_leftover(path_);
  struct stat st{};
  if (replace && ::lstat(temporary_name(path_).c_str(), &st) == 0) taken(path_);
  const unsigned mode = as.kept ? S_IRUSR | S_IWUSR : as.mode;  // until it has its owner
  file_.reset(open_registered(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  // Without /proc the file could never get a name.
  const bool usable = file_.get() >= 0 &&
                      lock_->take(file_.get(), of_content(access::write)) == 0 &&
                      ::access(link_to(file_.get()).c_str(), F_OK) == 0;
  if (!usable) make_named(mode);
  try {
    give_ownership(file_.get(), as, path_);  // FILE-5
  } catch (...) {
    drop_temporary();
    throw;
  }
}

void new_file::make_named(unsigned mode) {
  temporary_ = temporary_name(path_);
  const char* name = temporary_.c_str();
  for (int attempt = 0; attempt < 100; ++attempt) {
    file_.reset(open_registered(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file_.get() < 0 && errno == EEXIST) taken(path_);
    if (file_.get() < 0) throw_errno("create " + path_, errno);
    struct stat st{};
    int e = lock_->take(file_.get(), of_content(access::write));
    if (e == 0 && ::fstat(file_.get(), &st) != 0) e = errno;
    if (e == 0 && st.st_nlink != 0 &&
        ::pwrite(file_.get(), making_mark, mark_size, 0) != ssize_t{mark_size})
      e = errno;
    if (e == 0 && st.st_nlink != 0) return;
    // FILE-3: another process has found the file before it was locked, and removes it.
    if (e == 0 || e == EBUSY) continue;
    unlink_named(file_.get(), temporary_);
    if (e == ENOLCK) refuse_unlockable(path_);
    throw_errno("create " + path_, e);
  }
  busy(path_);
}

new_file::~new_file() {
  drop_temporary();
}

void new_file::drop_temporary() noexcept {
  const int keep = errno;
  if (!temporary_.empty()) unlink_named(file_.get(), temporary_);
  errno = keep;
}

file_handle new_file::open(uint64_t size) {
  std::string path = path_;
  const int fd = duplicate_registered(file_.get());
  if (fd < 0) throw_errno("open " + path_, errno);
  file_handle f = file_handle::adopt(fd, std::move(path), size, lock_);
  const length_signal_held now;
  if (::ftruncate(f.fd(), static_cast<off_t>(size)) == 0) {
    if (replace_ || !temporary_.empty()) {
      mark_unfinished(f.fd(), size);
      marked_ = size;
    }
    return f;
  }
  rlimit limit{};
  if (errno == EFBIG && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
    errno = EFBIG;
    throw failure(SCUTE_E_NOSPC, "cannot make " + path_ + " " + std::to_string(size) +
                                     " bytes long: this process may make files of up to " +
                                     std::to_string(limit.rlim_cur) +
                                     " bytes only; raise that limit (`ulimit -f`, RLIMIT_FSIZE), "
                                     "or make a smaller pool");
  }
  throw_errno("make " + path_ + " " + std::to_string(size) + " bytes long", errno);
}

void new_file::publish() {
  if (::fsync(file_.get()) != 0) throw_errno("write " + path_, errno);
  give_name();
  temporary_.clear();
  if (!is_locked_by_name()) {
    if (!replace_) unlink_named(file_.get(), path_);
    refuse_unlockable(path_);
  }
  try {
    sync_folder();
    // OURS-4: no sooner, or a power failure would leave the temporary name to a file without mark.
    if (marked_ && !unmark_finished(file_.get(), *marked_)) throw_errno("write " + path_, errno);
  } catch (...) {
    const int keep = errno;
    if (!replace_) unlink_named(file_.get(), path_);
    errno = keep;
    throw;
  }
}

void new_file::give_name() {
  const std::string name = temporary_name(path_);
  if (temporary_.empty()) {
    const std::string& to = replace_ ? name : path_;
    const auto link = [&] {
      return ::linkat(AT_FDCWD, link_to(file_.get()).c_str(), AT_FDCWD, to.c_str(),
                      AT_SYMLINK_FOLLOW) == 0;
    };
    if (replace_) temporary_ = name;
    bool done = link();
    if (!done && errno == EEXIST && replace_) {
      remove_leftover(path_);
      done = link();
    }
    if (!done) temporary_.clear();
    if (!done && errno != EEXIST) throw_errno("create " + path_, errno);
    if (!done) replace_ ? taken(path_) : exists(path_);
    if (!replace_) return;
  }
  if (replace_) {
    // OURS-3: the caller examined the old file before the new one was made, so it is examined
    // again.
    const descriptor old(open_registered(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (old.get() < 0 && errno != ENOENT) throw_errno("examine " + path_, errno);
    if (old.get() >= 0 && !is_ours(old.get())) {
      if (errno != 0) throw_errno("examine " + path_, errno);
      exists(path_);
    }
    if (::rename(name.c_str(), path_.c_str()) != 0) throw_errno("replace " + path_, errno);
    return;
  }
  if (rename_to_free(name, path_)) return;
  if (errno == EEXIST) exists(path_);
  throw_errno("create " + path_, errno);
}

// FILE-6. If this process cannot open the file, it counts as locked; a file that another process
// has put there is not this one.
bool new_file::is_locked_by_name() const {
  const descriptor other(open_registered(path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  return other.get() < 0 || file_of(other.get()) != file_of(file_.get()) ||
         look_if_kept(other.get(), of_content(access::write)) != ENOLCK;
}

// Makes the file's name durable; some file systems need nothing for that, and say so.
void new_file::sync_folder() const {
  if (folder_.get() < 0 ? ::syncfs(file_.get()) == 0 : ::fsync(folder_.get()) == 0) return;
  if (errno == EINVAL || errno == ENOTSUP) return;
  throw_errno("write the folder of " + path_, errno);
}

}  // namespace scute::core::medium

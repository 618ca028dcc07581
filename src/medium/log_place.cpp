// SPDX-License-Identifier: BSD-3-Clause
#include "medium/log_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/failure.hpp"
#include "base/uncancelled.hpp"
#include "medium/new_file.hpp"

namespace scute::core::medium {
namespace {

class beside_pool final : public log_place {
 public:
  beside_pool(std::string pool, const ownership& as, bool replaces)
      : pool_(std::move(pool)), as_(as), replaces_(replaces) {}

  std::string path(name n) const override {
    return pool_ + (n == name::named ? ".log" : ".log.new");
  }
  bool is_wanted(const medium& pool) const noexcept override { return pool.what() == kind::file; }
  bool replaces() const noexcept override { return replaces_; }

  std::unique_ptr<medium> open(name n, access how) override {
    const std::string at = path(n);
    // Whoever makes one at `named` goes by the other name.
    if (n == name::coming && how == access::write) remove_leftover(at);
    struct stat st{};
    if (::lstat(at.c_str(), &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) return nullptr;
    return std::make_unique<log_file>(file_handle::open(at, how), how);
  }

  std::unique_ptr<medium> make(uint64_t size) override {
    const std::string at = path(name::coming);
    new_file making(at, of_the_log(), true);
    auto made = std::make_unique<log_file>(making.open(size), access::write);
    made->write_zeros(0, size);
    try {
      making.publish();
    } catch (...) {
      const int keep = errno;
      remove(name::coming);
      errno = keep;
      throw;
    }
    return made;
  }

  void give_name() override {
    if (::rename(path(name::coming).c_str(), path(name::named).c_str()) != 0)
      throw_errno("name " + path(name::named), errno);
    sync_folder();
  }

  void set_aside(name n) override {
    const std::string from = path(n), to = from + ".foreign";
    const uncancelled now;
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
      return sync_folder();
    throw failure(SCUTE_E_EXISTS,
                  from +
                      " is not the log of this pool, and cannot get out of the way: "
                      "there is no changing its name to " +
                      to + "; move it elsewhere");
  }

  void remove(name n) noexcept override { ::unlink(path(n).c_str()); }

  void resize(medium& m, uint64_t size) override {
    auto& file = static_cast<log_file&>(m);
    if (size > file.size())
      file.write_zeros(file.size(), size);
    else
      file.cut(size);
  }

 private:
  // Whoever may open the pool may open its log. (Only root can give files away; a member of the pool's group who opens the
  // pool need not be able to.)
  ownership of_the_log() const {
    struct stat pool{};
    if (as_.mode != 0) return as_;
    if (::stat(pool_.c_str(), &pool) != 0) return S_IRUSR | S_IWUSR;
    ownership as(pool, pool.st_mode & 0777U);
    as.required = false;
    return as;
  }
  void sync_folder() const {
    const size_t slash = pool_.rfind('/');
    const std::string folder = slash == std::string::npos ? "."
                               : slash == 0               ? "/"
                                                          : pool_.substr(0, slash);
    const descriptor d(open_registered(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (d.get() < 0 && errno == EACCES)
      return ::sync();  // who may write to it need not be allowed to read it
    if (d.get() >= 0 && (::fsync(d.get()) == 0 || errno == EINVAL || errno == ENOTSUP)) return;
    throw_errno("write the folder of " + pool_, errno);
  }

  const std::string pool_;
  const ownership as_;
  const bool replaces_;
};

}  // namespace

std::unique_ptr<log_place> place_beside(const std::string& pool, const ownership& as,
                                        bool replaces) {
  return std::make_unique<beside_pool>(followed(pool), as, replaces);
}

}  // namespace scute::core::medium

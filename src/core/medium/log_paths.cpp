// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/log_paths.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/failure.hpp"
#include "base/process/uncancelled.hpp"
#include "core/file/new_file.hpp"
#include "core/file/our_file.hpp"

namespace scute::core::medium {
namespace {

constexpr unsigned asides_max = 100;  // a folder shall not fill

class pool_log_paths final : public log_paths {
 public:
  pool_log_paths(std::string pool, const ownership& as, std::optional<pool_uuid> replaced)
      : pool_(std::move(pool)), as_(as), replaced_(replaced) {}

  std::string path(name n) const override {
    return pool_ + (n == name::named ? ".log" : ".log.new");
  }
  bool is_wanted(const medium& pool) const noexcept override { return pool.what() == kind::file; }
  std::optional<pool_uuid> replaced() const noexcept override { return replaced_; }

  std::unique_ptr<medium> open(name n, access how) override {
    const std::string at = path(n);
    // A process that makes a log at `named` uses the other name first.
    if (n == name::coming && how == access::write) remove_leftover(at);
    struct stat st{};
    if (::lstat(at.c_str(), &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) return nullptr;
    return std::make_unique<log_file>(file_handle::open(at, how), how);
  }

  std::unique_ptr<medium> make(uint64_t size) override {
    const std::string at = path(name::coming);
    new_file making(at, of_the_log(), false);
    auto made = std::make_unique<log_file>(making.open(size), access::write);
    made->write_zeros(0, size);
    making.publish();
    return made;
  }

  void give_name() override {
    const uncancelled now;
    if (rename_to_free(path(name::coming), path(name::named))) return sync_folder();
    if (errno == EEXIST)
      throw failure(
          SCUTE_E_EXISTS,
          path(name::named) + " appeared meanwhile and is not overwritten; move it elsewhere");
    throw_errno("name " + path(name::named), errno);
  }

  void set_aside(name n) override {
    const std::string from = path(n);
    const uncancelled now;
    std::string to;
    for (unsigned k = 1; k <= asides_max; ++k) {
      to = from + ".foreign" + (k == 1 ? "" : "." + std::to_string(k));
      if (rename_to_free(from, to)) return sync_folder();
      if (errno == ENOENT) return;  // another process was faster
      if (errno != EEXIST) break;
    }
    throw failure(
        SCUTE_E_EXISTS,
        from + " is not the log of this pool and cannot be moved away: it cannot be renamed to " +
            to + "; move it elsewhere");
  }

  bool remove(name n) noexcept override { return remove_ours(path(n)); }

  void resize(medium& m, uint64_t size) override {
    auto& file = static_cast<log_file&>(m);
    if (size > file.size())
      file.extend(size);
    else
      file.cut(size);
  }

 private:
  // Every user who may open the pool may open its log. (Only root can give files away; a member of
  // the pool's group that opens the pool need not be able to.)
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
      return ::sync();  // a user who may write to the folder may be unable to read it
    if (d.get() >= 0 && (::fsync(d.get()) == 0 || errno == EINVAL || errno == ENOTSUP)) return;
    throw_errno("write the folder of " + pool_, errno);
  }

  const std::string pool_;
  const ownership as_;
  const std::optional<pool_uuid> replaced_;
};

}  // namespace

std::unique_ptr<log_paths> log_paths_of(const std::string& pool, const ownership& as,
                                        std::optional<pool_uuid> replaced) {
  return std::make_unique<pool_log_paths>(followed(pool), as, replaced);
}

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/bad_sectors.hpp"
#include "support/page.hpp"

#include <sys/stat.h>

#include <atomic>
#include <stdexcept>
#include <utility>

namespace scute::test {
namespace {

std::atomic<bad_sectors*> current_sectors{nullptr};

}  // namespace

bad_sectors::bad_sectors(const std::string& path, std::set<uint64_t> pages)
    : pages_(std::move(pages)) {
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0) throw std::runtime_error("no file with bad sectors");
  device_ = st.st_dev;
  inode_ = st.st_ino;
  current_sectors = this;
}

bad_sectors::~bad_sectors() {
  current_sectors = nullptr;
}

size_t bad_sectors::left() {
  const std::lock_guard hold(mutex_);
  return pages_.size();
}

bool bad_sectors::is_this(int fd) const noexcept {
  struct stat st{};
  return ::fstat(fd, &st) == 0 && st.st_dev == device_ && st.st_ino == inode_;
}

bool bad_sectors::reading(int fd, uint64_t offset, size_t n) noexcept {
  bad_sectors* const me = current_sectors;
  if (me == nullptr || n == 0 || !me->is_this(fd)) return false;
  const std::lock_guard hold(me->mutex_);
  const auto first = me->pages_.lower_bound(offset / page * page);
  return first != me->pages_.end() && *first < offset + n;
}

bool bad_sectors::writing(int fd, uint64_t offset, size_t n) noexcept {
  bad_sectors* const me = current_sectors;
  if (me == nullptr || n == 0 || !me->is_this(fd)) return false;
  const std::lock_guard hold(me->mutex_);
  auto p = me->pages_.lower_bound(offset / page * page);
  while (p != me->pages_.end() && *p < offset + n) {
    if (*p < offset || *p + page > offset + n) return true;
    p = me->pages_.erase(p);
  }
  return false;
}

}  // namespace scute::test

// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/lossy_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

namespace scute::test {
namespace {

std::array<std::atomic<lossy_disk*>, 2> disks{};
// Calls that may have found a disk: it stays until they end.
std::atomic<unsigned> calls{0};
struct call_of_disks {
  call_of_disks() { ++calls; }
  ~call_of_disks() { --calls; }
  call_of_disks(const call_of_disks&) = delete;
  call_of_disks& operator=(const call_of_disks&) = delete;
};

// Calls fn(disk) for the one that fn says yes to.
template <typename Fn>
lossy_disk* disk_that(Fn&& fn) {
  for (const auto& place : disks)
    if (lossy_disk* const d = place.load(); d != nullptr && fn(*d)) return d;
  return nullptr;
}

// The file that an address of this process is mapped from, and the offset in it.
bool find_mapping(const void* at, mapping::file& file, uint64_t& offset) {
  const auto wanted = reinterpret_cast<uint64_t>(at);
  return any_mapping([&](const mapping& m) {
    if (wanted < m.begin || wanted >= m.end) return false;
    file = m.of;
    offset = m.offset + (wanted - m.begin);
    return true;
  });
}

}  // namespace

std::mutex lossy_disk::mutex_;

lossy_disk::lossy_disk(std::string path) : path_(std::move(path)) {
  // Not by the functions whose calls are reported to it.
  fd_ = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path_.c_str(), O_RDWR | O_CLOEXEC));
  struct stat st{};
  if (fd_ < 0 || ::syscall(SYS_fstat, fd_, &st) != 0)
    throw std::runtime_error("no file under the disk");
  device_ = st.st_dev;
  inode_ = st.st_ino;
  as_mapped_ = mapped_file(fd_);
  seen_.resize(static_cast<size_t>(st.st_size));
  disk_ = now();
  clean_ = disk_;
  lossy_disk* none = nullptr;
  if (!disks[0].compare_exchange_strong(none, this) &&
      !disks[1].compare_exchange_strong(none = nullptr, this))
    throw std::runtime_error("two disks at a time");
}

lossy_disk::~lossy_disk() {
  for (auto& place : disks)
    if (place == this) place = nullptr;
  while (calls != 0) std::this_thread::yield();
  ::close(fd_);
}

// Reads a part of the file, or all of it; mutex_ is held. Pages by which it has grown are clean,
// and zeros.
const bytes& lossy_disk::now(uint64_t from, uint64_t to) {
  struct stat st{};
  EXPECT_EQ(::syscall(SYS_fstat, fd_, &st), 0);
  seen_.resize(static_cast<size_t>(st.st_size));
  clean_.resize(seen_.size());
  to = std::min<uint64_t>(to, seen_.size());
  while (from < to) {
    const auto n = ::syscall(SYS_pread64, fd_, seen_.data() + from, to - from, from);
    if (n <= 0) {
      ADD_FAILURE() << "cannot read the file under the disk";
      break;
    }
    from += static_cast<uint64_t>(n);
  }
  return seen_;
}

bool lossy_disk::is_this(int fd) const noexcept {
  struct stat st{};
  return ::syscall(SYS_fstat, fd, &st) == 0 && st.st_dev == device_ && st.st_ino == inode_;
}

bool lossy_disk::is_mapped() const {
  // A mapping that no thread can read through has no pages.
  return any_mapping([&](const mapping& m) { return m.readable && m.of == as_mapped_; });
}

// The page that the disk has there.
const unsigned char* lossy_disk::on_disk(uint64_t at) const noexcept {
  static constexpr unsigned char zeros[page] = {};
  return at + page <= disk_.size() ? disk_.data() + at : zeros;
}

// Dirty pages of [from, to) become clean, and the disk has the file's length. Where that fails,
// every other one of them has come through the first time, and none the second time.
void lossy_disk::sync(uint64_t from, uint64_t to, bool worked) {
  const bytes& seen = now(from, to);
  if (worked)
    disk_.resize(seen.size());
  else
    ++failures_;
  uint64_t dirty = 0;
  for (uint64_t at = from; at + page <= to && at + page <= seen.size(); at += page) {
    if (std::memcmp(seen.data() + at, clean_.data() + at, page) == 0) continue;
    if (worked || (failures_ % 2 == 1 && ++dirty % 2 == 0 && at + page <= disk_.size()))
      std::memcpy(disk_.data() + at, seen.data() + at, page);
    std::memcpy(clean_.data() + at, seen.data() + at, page);
  }
}

void lossy_disk::synced(int fd, bool worked) noexcept {
  const call_of_disks here;
  lossy_disk* const d = disk_that([&](const lossy_disk& x) { return x.is_this(fd); });
  if (d == nullptr) return;
  if (d->before_sync) d->before_sync();
  {
    const std::lock_guard hold(mutex_);
    d->sync(0, UINT64_MAX, worked);
  }
  if (!worked && d->after_failure) d->after_failure();
}

void lossy_disk::synced(const void* at, size_t n, bool worked) noexcept {
  const call_of_disks here;
  mapping::file file;
  uint64_t offset = 0;
  if (disk_that([](const lossy_disk&) { return true; }) == nullptr ||
      !find_mapping(at, file, offset))
    return;
  lossy_disk* const d = disk_that([&](const lossy_disk& x) { return file == x.as_mapped_; });
  if (d == nullptr) return;
  if (d->before_sync) d->before_sync();
  const std::lock_guard hold(mutex_);
  d->sync(offset, (offset + n + page - 1) & ~(page - 1), worked);
}

// The pages are dirty, even if they hold what they held.
void lossy_disk::written(int fd, uint64_t offset, size_t n) noexcept {
  const call_of_disks here;
  lossy_disk* const d = disk_that([&](const lossy_disk& x) { return x.is_this(fd); });
  if (d == nullptr) return;
  const std::lock_guard hold(mutex_);
  const bytes& seen = d->now(offset & ~(page - 1), (offset + n + page - 1) & ~(page - 1));
  for (uint64_t at = offset & ~(page - 1); at < offset + n && at + page <= seen.size(); at += page)
    d->clean_[at] = static_cast<unsigned char>(~seen[at]);
}

void lossy_disk::dropped(int fd) noexcept {
  const call_of_disks here;
  lossy_disk* const d = disk_that([&](const lossy_disk& x) { return x.is_this(fd); });
  if (d == nullptr) return;
  const std::lock_guard hold(mutex_);
  if (d->keeps_pages || d->is_mapped()) return;
  const bytes& seen = d->now();
  for (uint64_t at = 0; at + page <= seen.size(); at += page) {
    if (std::memcmp(seen.data() + at, d->clean_.data() + at, page) != 0) continue;  // dirty
    if (std::memcmp(seen.data() + at, d->on_disk(at), page) == 0) continue;
    ::syscall(SYS_pwrite64, d->fd_, d->on_disk(at), page, at);
    std::memcpy(d->clean_.data() + at, d->on_disk(at), page);
  }
}

bool lossy_disk::has(int fd) noexcept {
  const call_of_disks here;
  return disk_that([&](const lossy_disk& x) { return x.is_this(fd); }) != nullptr;
}

bool lossy_disk::has_dropped(const void* at) noexcept {
  const call_of_disks here;
  mapping::file file;
  uint64_t offset = 0;
  return disk_that([](const lossy_disk& x) { return !x.keeps_pages; }) != nullptr &&
         find_mapping(at, file, offset) &&
         disk_that([&](const lossy_disk& x) { return !x.keeps_pages && file == x.as_mapped_; }) !=
             nullptr;
}

bytes lossy_disk::after_power_failure(random_source& random) {
  const std::lock_guard hold(mutex_);
  return leave(random);
}

std::pair<bytes, bytes> lossy_disk::after_power_failure(lossy_disk& a, lossy_disk& b,
                                                        random_source& random) {
  const std::lock_guard hold(mutex_);
  bytes of_a = a.leave(random);
  return {std::move(of_a), b.leave(random)};
}

bytes lossy_disk::leave(random_source& random) {
  const bytes& seen = now();
  bytes left = disk_;
  // The length may be that of the file already.
  if (seen.size() != left.size() && random.one_in(2)) left.resize(seen.size());
  const uint64_t density = random.between(0, 4);
  for (uint64_t at = 0; at + page <= std::min(seen.size(), left.size()); at += page)
    if (std::memcmp(seen.data() + at, clean_.data() + at, page) != 0 &&
        random.between(1, 4) <= density)
      std::memcpy(left.data() + at, seen.data() + at, page);
  return left;
}

void lossy_disk::fail_power(random_source& random) {
  const bytes left = after_power_failure(random);
  const std::lock_guard hold(mutex_);
  EXPECT_EQ(static_cast<long>(left.size()),
            ::syscall(SYS_pwrite64, fd_, left.data(), left.size(), 0));
  EXPECT_EQ(0, ::syscall(SYS_ftruncate, fd_, left.size()));
  disk_ = left;
  clean_ = left;
}

uint64_t lossy_disk::lost_pages() {
  const std::lock_guard hold(mutex_);
  const bytes& seen = now();
  uint64_t n = 0;
  for (uint64_t at = 0; at + page <= seen.size(); at += page)
    n += std::memcmp(seen.data() + at, clean_.data() + at, page) == 0 &&
         std::memcmp(seen.data() + at, on_disk(at), page) != 0;
  return n;
}

}  // namespace scute::test

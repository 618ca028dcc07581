// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/view_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/failure.hpp"
#include "base/huge_pages.hpp"

namespace scute::core::supervisor {
namespace {

constexpr uint64_t page = 4096;

// Moves a descriptor to a high number: low ones are the program's.
int raised(int low) {
  constexpr int high = 512;
  if (low >= high) return low;
  const int fd = ::fcntl(low, F_DUPFD_CLOEXEC, high);
  if (fd < 0) return low;
  ::close(low);
  return fd;
}

int memory_file(const char* name, uint64_t size) {
  const int low = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (low < 0) throw_errno("make a file in memory", errno);
  const int fd = raised(low);
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0 ||
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    const int why = errno;
    ::close(fd);
    throw_errno("make a file in memory", why);
  }
  return fd;
}

// Allocates blocks for [from, to), by the kernel only: the C library's emulation writes to blocks
// that are in use.
int give_blocks(int fd, uint64_t from, uint64_t to, int how = 0) noexcept {
  if (from >= to) return 0;
  int result = 0;
  do result = ::fallocate(fd, how, static_cast<off_t>(from), static_cast<off_t>(to - from));
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

int nameless_file(const std::string& folder, uint64_t size) {
  const int low = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  if (low < 0) throw_errno("make a file without a name in " + folder, errno);
  const int fd = raised(low);
  // a program may become another user, and then reaches it only by its descriptors
  ::fchmod(fd, 0666);
  if (const int why = give_blocks(fd, 0, size); why != 0) {
    ::close(fd);
    throw_errno("make room for a view of " + std::to_string(size) + " bytes in " + folder, why);
  }
  return fd;
}

void* mapped(int fd, uint64_t n) {
  void* const at = map_aligned(n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
  if (at == MAP_FAILED) throw_errno("map a file in memory", errno);
  return at;
}

uint64_t length_of(int fd) {
  struct stat s{};
  if (::fstat(fd, &s) != 0) throw_errno("look at a file in memory", errno);
  return static_cast<uint64_t>(s.st_size);
}

}  // namespace

void view_memory::map(uint64_t head_size, uint64_t capacity) {
  control_ = {static_cast<std::byte*>(mapped(head_.get(), head_size)), head_size};
  capacity_ = (capacity + page - 1) & ~(page - 1);
  bytes_at_ = static_cast<std::byte*>(mapped(bytes_.get(), capacity_));
}

view_memory view_memory::make(const view::region_shape& shape, uint64_t file_size, uint64_t more,
                              const std::string& folder) {
  view_memory m;
  const uint64_t head_size = view::region::size(shape) + more;
  m.head_ = kept_number(memory_file("scute-view-head", head_size));
  m.bytes_ = kept_number(folder.empty() ? memory_file("scute-view", file_size)
                                        : nameless_file(folder, file_size));
  m.map(head_size, shape.capacity);
  view::region::format(m.control_, shape, file_size);
  return m;
}

view_memory view_memory::attach(int head, int bytes) {
  view_memory m;
  m.head_ = kept_number(head);
  m.bytes_ = kept_number(bytes);
  const uint64_t head_size = length_of(head);
  if (head_size < page) throw failure(SCUTE_E_CORRUPT, "the head of a view is too short");
  m.control_ = {static_cast<std::byte*>(mapped(head, head_size)), head_size};
  const uint64_t capacity = view::region(m.control_).shape().capacity;
  m.capacity_ = (capacity + page - 1) & ~(page - 1);
  void* at =
      ::mmap(nullptr, m.capacity_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, bytes, 0);
  // A view that has ended (end_writes()) can still be read.
  if (at == MAP_FAILED && errno == EPERM)
    at = ::mmap(nullptr, m.capacity_, PROT_READ, MAP_SHARED | MAP_NORESERVE, bytes, 0);
  if (at == MAP_FAILED) throw_errno("map a file in memory", errno);
  m.bytes_at_ = static_cast<std::byte*>(at);
  return m;
}

view_memory::view_memory(view_memory&& other) noexcept {
  *this = std::move(other);
}

view_memory& view_memory::operator=(view_memory&& other) noexcept {
  std::swap(head_, other.head_);
  std::swap(bytes_, other.bytes_);
  std::swap(control_, other.control_);
  std::swap(bytes_at_, other.bytes_at_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

view_memory::~view_memory() {
  if (!control_.empty()) ::munmap(control_.data(), control_.size());
  if (bytes_at_ != nullptr) ::munmap(bytes_at_, capacity_);
  for (const kept_number* file : {&head_, &bytes_})
    if (const int fd = file->get(); fd >= 0) ::close(fd);  // NUMBER-2
}

std::span<std::byte> view_memory::more() const {
  return control_.subspan(view::region::size(view::region(control_).shape()));
}

uint64_t view_memory::length() const noexcept {
  struct stat s{};
  return ::fstat(bytes_.get(), &s) == 0 ? static_cast<uint64_t>(s.st_size) : 0;
}

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

void view_memory::end_writes(int bytes) noexcept {
  static_cast<void>(::fcntl(bytes, F_ADD_SEALS, F_SEAL_FUTURE_WRITE));
}

void view_memory::end_growth(int bytes) noexcept {
  static_cast<void>(::fcntl(bytes, F_ADD_SEALS, F_SEAL_GROW));
}

bool view_memory::has_ended(int bytes) noexcept {
  const int seals = ::fcntl(bytes, F_GET_SEALS);
  return seals > 0 && (seals & F_SEAL_FUTURE_WRITE) != 0;
}

bool view_memory::forget_region() const noexcept {
  return ::mmap(control_.data(), control_.size(), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, head_.get(), 0) == control_.data();
}

void view_memory::abandon() noexcept {
  control_ = {};
  bytes_at_ = nullptr;
  head_ = bytes_ = kept_number();
}

// Another process may append to the file meanwhile: it is never cut.
void view_memory::lengthen(uint64_t n) const {
  const uint64_t had = length();
  if (had >= n) return;
  // ftruncate() on a file in a folder would cut off what another process has just appended.
  if (!is_in_memory()) {
    if (const int why = give_blocks(bytes_.get(), had, n); why != 0)
      throw_errno("make a view longer", why);
  } else if (::ftruncate(bytes_.get(), static_cast<off_t>(n)) != 0 && length() < n) {
    throw_errno("make a view longer", errno);
  }
}

void view_memory::use_huge_pages(uint64_t offset, uint64_t n) const noexcept {
  const uint64_t skip = -offset & (huge_page - 1);
  if (is_in_memory() && n > skip)
    make_huge(bytes_.get(), offset + skip, bytes_at_ + offset + skip, n - skip);
}

void view_memory::reserve(uint64_t n) const {
  if (is_in_memory()) return;
  const int why = give_blocks(bytes_.get(), length(), n, FALLOC_FL_KEEP_SIZE);
  if (why != 0 && why != EFBIG)  // lengthen() reports that
    throw_errno("make a view longer", why);
}

bool view_memory::takes_memory() const noexcept {
  constexpr auto tmpfs = 0x01021994;
  struct statfs s{};
  return ::fstatfs(bytes_.get(), &s) == 0 && s.f_type == tmpfs;
}

// Only a file of ours in memory has this seal.
bool view_memory::is_in_memory() const noexcept {
  const int seals = ::fcntl(bytes_.get(), F_GET_SEALS);
  return seals > 0 && (seals & F_SEAL_SHRINK) != 0;
}

}  // namespace scute::core::supervisor

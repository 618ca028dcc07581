// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/userfault.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/uncancelled.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"

namespace scute::core::interpose {
namespace {

constexpr size_t fault_page = 4096;

// Newer than the headers of some systems on which this is built (Linux 6.6).
struct poison_request {
  uffdio_range range;
  uint64_t mode;
  int64_t updated;
};
constexpr uint64_t poison_feature = uint64_t{1} << 14;
constexpr unsigned long poison_call = _IOWR(0xAA, 0x08, poison_request);
// Since Linux 6.1; access to the device can be given to otherwise unprivileged users.
constexpr unsigned long new_from_device = _IO(0xAA, 0x00);

// lacks: 0, or why it covers only the program's own accesses.
int new_descriptor(int& lacks) noexcept {
  constexpr int flags = O_CLOEXEC | O_NONBLOCK, own_only = 1;
  lacks = 0;
  const long whole = ::syscall(SYS_userfaultfd, flags);
  if (whole >= 0) return static_cast<int>(whole);
  lacks = errno;
  const int device = next::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
  if (device >= 0) {
    const int got = ::ioctl(device, new_from_device, flags);
    next::close(device);
    if (got >= 0) {
      lacks = 0;
      return got;
    }
  }
  return static_cast<int>(::syscall(SYS_userfaultfd, flags | own_only));
}

// A descriptor reports its features once; after that they are fixed.
uint64_t features() noexcept {
  int lacks = 0;
  const int fd = new_descriptor(lacks);
  if (fd < 0) return 0;
  uffdio_api api{};
  api.api = UFFD_API;
  const bool known = ::ioctl(fd, UFFDIO_API, &api) == 0;
  const int keep = errno;
  next::close(fd);
  errno = keep;
  return known ? api.features : 0;
}

userfault::outcome outcome_of(int why) noexcept {
  switch (why) {
    case EEXIST: return userfault::outcome::there_before;
    case ENOENT: return userfault::outcome::gone;
    default: return userfault::outcome::failed;
  }
}

}  // namespace

bool userfault::open() noexcept {
  static_assert(pages_feature == UFFD_FEATURE_MISSING_SHMEM &&
                stores_feature == UFFD_FEATURE_WP_HUGETLBFS_SHMEM);
  const uint64_t wanted = features() & (pages_feature | stores_feature | poison_feature |
                                        UFFD_FEATURE_PAGEFAULT_FLAG_WP);
  const int fd = new_descriptor(lacks_);
  if (fd < 0) return false;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = wanted;
  if (::ioctl(fd, UFFDIO_API, &api) == 0) fd_ = kept_number(keep_own(fd));
  const int why = errno;
  next::close(fd);
  errno = why;
  if (fd_.number() < 0) return false;
  features_ = wanted;
  const int kicks = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (kicks >= 0) kicks_ = kept_number(keep_own(kicks));
  if (kicks >= 0) next::close(kicks);
  return true;
}

void userfault::forget() noexcept {
  close_own(fd_);
  close_own(kicks_);
  fd_ = kicks_ = kept_number();
  features_ = 0;
}

bool userfault::watch(uintptr_t at, size_t n, bool pages, bool stores) const noexcept {
  uffdio_register request{};
  request.range = {at, n};
  request.mode =
      (pages ? UFFDIO_REGISTER_MODE_MISSING : 0) | (stores ? UFFDIO_REGISTER_MODE_WP : 0);
  return request.mode == 0 || ::ioctl(fd_.get(), UFFDIO_REGISTER, &request) == 0;
}

bool userfault::protect(uintptr_t at, size_t n, bool on) const noexcept {
  for (;;) {
    uffdio_writeprotect request{};
    request.range = {at, n};
    request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
    if (::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &request) == 0 || errno == ENOENT) return true;
    if (errno != EAGAIN && errno != EINTR) return false;
  }
}

userfault::outcome userfault::copy(uintptr_t to, const std::byte* from, size_t pages,
                                   size_t& count) const noexcept {
  for (count = 0; count < pages;) {
    uffdio_copy request{};
    request.dst = to + count * fault_page;
    request.src = reinterpret_cast<uintptr_t>(from) + count * fault_page;
    request.len = (pages - count) * fault_page;
    request.mode = UFFDIO_COPY_MODE_DONTWAKE;
    const int result = ::ioctl(fd_.get(), UFFDIO_COPY, &request);
    if (request.copy > 0) count += static_cast<size_t>(request.copy) / fault_page;
    if (result == 0) continue;
    // EAGAIN: another thread is changing mappings, or only a part was done.
    if (errno == EAGAIN || errno == EINTR) continue;
    return outcome_of(errno);
  }
  return outcome::done;
}

userfault::outcome userfault::zero(uintptr_t page) const noexcept {
  for (;;) {
    uffdio_zeropage request{};
    request.range = {page, fault_page};
    if (::ioctl(fd_.get(), UFFDIO_ZEROPAGE, &request) == 0) return outcome::done;
    if (errno != EAGAIN && errno != EINTR) return outcome_of(errno);
  }
}

userfault::outcome userfault::poison(uintptr_t page) const noexcept {
  for (;;) {
    poison_request request{};
    request.range = {page, fault_page};
    if (::ioctl(fd_.get(), poison_call, &request) == 0) return outcome::done;
    if (errno != EAGAIN && errno != EINTR) return outcome_of(errno);
  }
}

void userfault::wake(uintptr_t at, size_t n) const noexcept {
  uffdio_range range{at, n};
  ::ioctl(fd_.get(), UFFDIO_WAKE, &range);
}

void userfault::kick() const noexcept {
  constexpr uint64_t once = 1;
  const uncancelled now;
  static_cast<void>(!next::write(kicks_.get(), &once, sizeof once));
}

userfault::waiter userfault::next(bool waits) const noexcept {
  pollfd wait[] = {{fd_.get(), POLLIN, 0}, {kicks_.get(), POLLIN, 0}};  // -1 is ignored
  if (wait[0].fd < 0) return {0, false, true};
  if (::poll(wait, 2, waits ? -1 : 0) <= 0) return {};
  if ((wait[0].revents & (POLLNVAL | POLLERR)) != 0) return {0, false, true};
  uint64_t kicks = 0;
  if (wait[1].revents != 0) static_cast<void>(!::read(kicks_.get(), &kicks, sizeof kicks));
  uffd_msg message{};
  if (::read(fd_.get(), &message, sizeof message) != ssize_t{sizeof message} ||
      message.event != UFFD_EVENT_PAGEFAULT)
    return {};
  return {message.arg.pagefault.address,
          (message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) != 0, false};
}

}  // namespace scute::core::interpose

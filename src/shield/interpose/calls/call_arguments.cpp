// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/calls/call_arguments.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace scute::core::interpose {
namespace {

// Reads through the kernel, which reports an error where there is no memory. If that is not
// permitted (EPERM, ENOSYS), assumes that there is memory.
bool look(void* to, const void* from, size_t n) noexcept {
  const int keep = errno;
  const iovec mine{to, n}, theirs{const_cast<void*>(from), n};
  const ssize_t got = ::process_vm_readv(::gettid(), &mine, 1, &theirs, 1, 0);
  const bool none = got >= 0 || errno == EFAULT;
  if (!none) std::memcpy(to, from, n);
  errno = keep;
  return !none || got == static_cast<ssize_t>(n);
}

// Calls f for each part. Returns false if the parts cannot be read.
template <class F>
bool for_each(const struct iovec* parts, int count, F&& f) noexcept {
  if (count <= 0 || count > IOV_MAX) return false;
  constexpr size_t at_once = 32;
  std::array<iovec, at_once> seen;
  for (size_t i = 0, n = static_cast<size_t>(count); i < n; i += at_once) {
    const size_t some = std::min(at_once, n - i);
    if (!look(seen.data(), parts + i, some * sizeof(iovec))) return false;
    for (size_t k = 0; k < some; ++k) f(seen[k]);
  }
  return true;
}

}  // namespace

size_t length_of(const struct iovec* parts, int count) noexcept {
  size_t sum = 0;
  const bool seen = for_each(parts, count, [&](const iovec& part) {
    sum += std::min(part.iov_len, ~size_t{0} / 2 - sum);
  });
  return seen ? sum : 0;
}

memory_range range_of(const struct iovec* parts, int count) noexcept {
  uintptr_t first = UINTPTR_MAX, end = 0;
  const bool seen = for_each(parts, count, [&](const iovec& part) {
    if (part.iov_len == 0) return;
    const auto at = reinterpret_cast<uintptr_t>(part.iov_base);
    first = std::min(first, at);
    end = std::max(end, at + std::min(part.iov_len, UINTPTR_MAX - at));
  });
  if (!seen || end <= first) return {nullptr, 0};
  return {reinterpret_cast<const void*>(first), end - first};  // NOLINT(performance-no-int-to-ptr)
}

off_t offset_at(const off_t* at) noexcept {
  off_t offset = -1;
  return at != nullptr && look(&offset, at, sizeof offset) ? offset : -1;
}

}  // namespace scute::core::interpose

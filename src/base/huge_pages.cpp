// SPDX-License-Identifier: BSD-3-Clause
#include "base/huge_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "base/process/uncancelled.hpp"
#include "base/rounding.hpp"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace scute::core {
namespace {

constexpr uint64_t small_page = 4096;

bool wanted() noexcept {
  const char* setting = std::getenv("SCUTE_HUGE_PAGES");
  return setting == nullptr || std::string_view(setting) != "never";
}

}  // namespace

void* map_aligned(uint64_t size, int access, int flags, int fd, uint64_t offset) noexcept {
  const uint64_t span = size + huge_page;
  void* room = ::mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  const auto begin = reinterpret_cast<uintptr_t>(room);
  const uintptr_t skip = round_up(begin, huge_page) - begin;
  auto* at = static_cast<std::byte*>(room) + skip;
  if (::mmap(at, size, access, flags | MAP_FIXED, fd, static_cast<off_t>(offset)) == MAP_FAILED) {
    const int why = errno;
    ::munmap(room, span);
    errno = why;
    return MAP_FAILED;
  }
  const uint64_t used = round_up(size, small_page);
  if (skip != 0) ::munmap(room, skip);
  if (skip + used < span) ::munmap(at + used, span - skip - used);
  return at;
}

bool make_huge(int fd, uint64_t offset, void* at, uint64_t n) noexcept {
  static const bool may = wanted();
  if (!may) return false;
  const uncancelled now;
  bool all = true;
  for (uint64_t i = 0; i + huge_page <= n; i += huge_page) {
    // The kernel makes no huge page of a hole alone. (A load would fill it, but if the file system
    // is full the load ends the program.)
    if (::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset + i), small_page) != 0)
      return false;
    if (::madvise(static_cast<std::byte*>(at) + i, huge_page, MADV_COLLAPSE) == 0) continue;
    if (errno != EAGAIN && errno != EBUSY) return false;  // the next one would fail too
    all = false;
  }
  return all;
}

}  // namespace scute::core

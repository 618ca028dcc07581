// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/views_of_others.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "base/planted.hpp"
#include "holder/view_memory.hpp"
#include "interpose/next_calls.hpp"
#include "interpose/own_descriptors.hpp"

namespace scute::core::interpose {
namespace {

// Of a mapping. It may have gone since, and the place be another's: then that one is told wrongly, once the view has ended.
struct part {
  std::atomic<uintptr_t> begin{0}, end{0};  // end last
  int bytes = -1;                           // ours
};
constexpr size_t parts_max = 256;
constinit std::array<part, parts_max> parts{};
std::atomic<size_t> parts_taken{0};

bool has_name_of_view(int fd) noexcept {
  char link[32], name[64] = "";
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = ::readlink(link, name, sizeof name);
  return n > 0 && std::string_view(name, static_cast<size_t>(n)).find("scute-view") !=
                      std::string_view::npos;
}

template <class F>
bool any_part(F&& f) noexcept {
  const int keep = errno;
  bool found = false;
  for (size_t i = 0; i < parts_max && !found; ++i) {
    const uintptr_t end = parts[i].end.load(std::memory_order_acquire);
    if (end == 0) break;
    found = f(parts[i].begin.load(), end, parts[i].bytes) &&
            holder::view_memory::has_ended(parts[i].bytes) && !SCUTE_PLANTED(down_unsaid);
  }
  errno = keep;
  return found;
}

}  // namespace

bool is_of_some_view(int fd) noexcept {
  const int keep = errno;
  const int seals = next::fcntl(fd, F_GET_SEALS);
  const bool is = seals > 0 && (seals & F_SEAL_SHRINK) != 0 && has_name_of_view(fd);
  errno = keep;
  return is;
}

void remember_view_of_other(uintptr_t at, size_t n, int fd) noexcept {
  const int keep = errno;
  const int bytes = keep_own(fd);
  const size_t i = bytes >= 0 ? parts_taken.fetch_add(1) : parts_max;
  if (i < parts_max) {
    parts[i].bytes = bytes;
    parts[i].begin.store(at);
    parts[i].end.store(at + n, std::memory_order_release);
  } else {
    close_own(bytes);
  }
  errno = keep;
}

bool is_of_ended_view(uintptr_t at, size_t n) noexcept {
  return any_part([&](uintptr_t begin, uintptr_t end, int) { return at < end && begin < at + n; });
}

bool is_mapped_of_ended_view(int fd) noexcept {
  if (parts_taken.load() == 0) return false;
  const int keep = errno;
  struct stat wanted{};
  const bool known = next::fstat(fd, &wanted) == 0;
  errno = keep;
  return known && any_part([&](uintptr_t, uintptr_t, int bytes) {
           struct stat s{};
           return next::fstat(bytes, &s) == 0 && s.st_dev == wanted.st_dev &&
                  s.st_ino == wanted.st_ino;
         });
}

}  // namespace scute::core::interpose

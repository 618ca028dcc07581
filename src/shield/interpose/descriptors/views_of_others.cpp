// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/views_of_others.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/supervisor/view_memory.hpp"

namespace scute::core::interpose {
namespace {

// A part of a mapping; the table changes in critical sections, and is read at any time.
struct part {
  std::atomic<uintptr_t> begin{0}, end{0};  // the same: free
  std::atomic<int> bytes{-1};               // ours
};
constexpr size_t parts_max = 256;
constinit std::array<part, parts_max> parts{};
std::atomic<size_t> parts_used{0};  // entries after this were never used

void free_part(part& p) noexcept {
  p.end.store(p.begin.load());
  close_own(p.bytes.exchange(-1));
}

bool has_name_of_view(int fd) noexcept {
  char link[40], name[64] = "";
  std::snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  const ssize_t n = ::readlink(link, name, sizeof name);
  return n > 0 && std::string_view(name, static_cast<size_t>(n)).find("scute-view") !=
                      std::string_view::npos;
}

template <class F>
bool any_part(F&& f) noexcept {
  const int keep = errno;
  bool found = false;
  for (size_t i = 0, n = parts_used.load(std::memory_order_acquire); i < n && !found; ++i) {
    const uintptr_t begin = parts[i].begin.load(), end = parts[i].end.load();
    const int bytes = parts[i].bytes.load();
    found = begin < end && f(begin, end, bytes) && supervisor::view_memory::has_ended(bytes);
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
  if (is_borrowed()) return;  // its descriptors are not its parent's
  forget_views_of_others(at, n);
  const int keep = errno;
  const critical now;
  size_t i = 0;
  while (i < parts_used.load() && parts[i].begin.load() != parts[i].end.load()) ++i;
  const int bytes = i < parts_max ? keep_own(fd) : -1;
  errno = keep;
  if (bytes < 0) return;
  parts[i].bytes.store(bytes);
  parts[i].begin.store(at);
  parts[i].end.store(at + n);
  if (i == parts_used.load()) parts_used.store(i + 1, std::memory_order_release);
}

void forget_views_of_others(uintptr_t at, size_t n) noexcept {
  if (parts_used.load(std::memory_order_acquire) == 0) return;
  const int keep = errno;
  const critical now;
  for (size_t i = 0; i < parts_used.load(); ++i) {
    part& p = parts[i];
    const uintptr_t begin = p.begin.load(), end = p.end.load();
    if (begin >= at + n || end <= at || begin == end) continue;
    // If the middle of one goes, its beginning is kept.
    if (begin < at)
      p.end.store(at);
    else if (end > at + n)
      p.begin.store(at + n);
    else
      free_part(p);
  }
  errno = keep;
}

bool is_of_ended_view(uintptr_t at, size_t n) noexcept {
  return any_part([&](uintptr_t begin, uintptr_t end, int) { return at < end && begin < at + n; });
}

bool is_mapped_of_ended_view(int fd) noexcept {
  if (parts_used.load(std::memory_order_acquire) == 0) return false;
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

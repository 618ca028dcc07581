// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/memory_parts.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "base/process/uncancelled.hpp"
#include "shield/interpose/calls/next_calls.hpp"

namespace scute::core::interpose {
namespace {

// Parses "begin-end rwxp ...". Returns false if it is no such line.
bool look_at(std::span<const char> line, memory_part_seen seen) noexcept {
  uintptr_t begin = 0, end = 0;
  const char* const to = line.data() + line.size();
  const auto first = std::from_chars(line.data(), to, begin, 16);
  if (first.ec != std::errc() || first.ptr == to || *first.ptr != '-') return false;
  const auto second = std::from_chars(first.ptr + 1, to, end, 16);
  if (second.ec != std::errc() || to - second.ptr < 5) return false;
  const char* const access = second.ptr + 1;
  seen(begin, end,
       (access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
           (access[2] == 'x' ? PROT_EXEC : 0));
  return true;
}

}  // namespace

bool each_part_of_memory(memory_part_seen seen) noexcept {
  const uncancelled now;
  const int fd = next::open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  // A line without its name fits in this; of a longer line the rest is skipped.
  char room[1024];
  size_t have = 0;
  bool good = true, in_name = false;
  for (;;) {
    const ssize_t got = next::read(fd, room + have, sizeof room - have);
    if (got <= 0) {
      good = good && got == 0 && have == 0;
      break;
    }
    have += static_cast<size_t>(got);
    size_t at = 0;
    for (;;) {
      const auto* const end = static_cast<const char*>(std::memchr(room + at, '\n', have - at));
      if (end == nullptr) break;
      const size_t next_at = static_cast<size_t>(end - room) + 1;
      if (!in_name) good = look_at({room + at, next_at - 1 - at}, seen) && good;
      in_name = false;
      at = next_at;
    }
    have -= at;
    std::memmove(room, room + at, have);
    if (have == sizeof room) {  // (only a name makes a line as long)
      if (!in_name) good = look_at({room, have}, seen) && good;
      in_name = true;
      have = 0;
    }
  }
  next::close(fd);
  return good;
}

}  // namespace scute::core::interpose

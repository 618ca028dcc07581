// SPDX-License-Identifier: BSD-3-Clause
// The mappings of this process, from /proc/self/maps. A file is known there by a device and an
// inode: a library of another file system may have the inode number of a file under a test. The
// device is not always that of fstat() (btrfs, overlayfs), so a descriptor's file is mapped to
// learn how maps names it.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace scute::test {

struct mapping {
  struct file {
    unsigned major = 0, minor = 0;
    uint64_t inode = 0;
    bool operator==(const file&) const = default;
  };
  uint64_t begin = 0, end = 0, offset = 0;
  bool readable = false;
  file of;  // inode 0: of no file
};

// Calls fn(mapping) for each, until it returns true. False if it never does.
template <typename Fn>
bool any_mapping(Fn&& fn) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) throw std::runtime_error("/proc/self/maps");
  char line[512];
  bool found = false;
  while (!found && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0, offset = 0, inode = 0;
    unsigned major = 0, minor = 0;
    char access = '-';
    if (std::sscanf(line, "%lx-%lx %c%*s %lx %x:%x %lu", &begin, &end, &access, &offset, &major,
                    &minor, &inode) == 7)
      found = fn(mapping{begin, end, offset, access == 'r', {major, minor, inode}});
  }
  std::fclose(maps);
  return found;
}

// As maps have it. By system calls, since a test may have functions of its own in their places.
inline mapping::file mapped_file(int fd) {
  constexpr size_t page = 4096;
  const long got = ::syscall(SYS_mmap, nullptr, page, PROT_NONE, MAP_SHARED, fd, 0);
  if (got == -1) throw std::runtime_error("cannot map the file under the test");
  mapping::file is;
  any_mapping([&](const mapping& m) {
    is = m.of;
    return static_cast<uint64_t>(got) >= m.begin && static_cast<uint64_t>(got) < m.end;
  });
  ::syscall(SYS_munmap, got, page);
  return is;
}

}  // namespace scute::test

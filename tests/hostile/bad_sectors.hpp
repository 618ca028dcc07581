// SPDX-License-Identifier: BSD-3-Clause
// Pages of one file that the disk does not return. A read of one gets EIO. So does a write of a
// part of one, since the kernel first reads the rest of it. A write of a whole page makes it good
// again. For files that are read and written by system calls; fault_injector.cpp asks. One such
// file at a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace scute::test {

class bad_sectors {
 public:
  bad_sectors(const std::string& path, std::set<uint64_t> pages);  // offsets
  ~bad_sectors();
  bad_sectors(const bad_sectors&) = delete;
  bad_sectors& operator=(const bad_sectors&) = delete;

  size_t left();

  // True if the call fails.
  static bool reading(int fd, uint64_t offset, size_t n) noexcept;
  static bool writing(int fd, uint64_t offset, size_t n) noexcept;

 private:
  bool is_this(int fd) const noexcept;

  uint64_t device_ = 0, inode_ = 0;
  std::mutex mutex_;
  std::set<uint64_t> pages_;
};

}  // namespace scute::test

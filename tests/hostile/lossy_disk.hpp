// SPDX-License-Identifier: BSD-3-Clause
// A disk under one file. The file is what the page cache holds; the disk has the bytes that syncs
// have written there. When a sync fails, the dirty pages are clean afterwards, and the disk has
// none of them, or some: Linux does that. A dropped cache is read again from the disk, except pages
// that are dirty or mapped.
//
// fault_injector.cpp reports the calls of this program to it. Stores to mappings are not reported:
// they are found by comparison. A changed length is durable with the next sync that works. Two at a
// time at most, as of a pool and its log.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "support/mapping.hpp"
#include "support/scratch.hpp"
#include "support/seed.hpp"

namespace scute::test {

class lossy_disk {
 public:
  // From now on, for the file as it is: all of it durable.
  explicit lossy_disk(std::string path);
  ~lossy_disk();
  lossy_disk(const lossy_disk&) = delete;
  lossy_disk& operator=(const lossy_disk&) = delete;

  // The bytes that a power failure leaves at this moment: the disk, and those of the dirty pages
  // that the kernel happens to have written already. Any thread.
  bytes after_power_failure(random_source& random);
  // Of both at the same moment.
  static std::pair<bytes, bytes> after_power_failure(lossy_disk& a, lossy_disk& b,
                                                     random_source& random);
  // The same for the file itself, which no process has open.
  void fail_power(random_source& random);
  // Pages that the cache and the disk have in different versions, although no sync is going to
  // tell.
  uint64_t lost_pages();

  bool keeps_pages = false;           // another process has the file mapped: nothing is dropped
  std::function<void()> before_sync;  // called by each thread that syncs; set before there are any
  std::function<void()> after_failure;  // called by one whose sync fails, before its error returns

  // Called by the replaced functions. fd or address: ours, or another one's.
  static void synced(int fd, bool worked) noexcept;
  static void synced(const void* at, size_t n, bool worked) noexcept;
  static void written(int fd, uint64_t offset, size_t n) noexcept;
  static void dropped(int fd) noexcept;
  static bool has(int fd) noexcept;
  static bool has_dropped(const void* at) noexcept;

 private:
  static constexpr uint64_t page = 4096;

  const bytes& now(uint64_t from = 0, uint64_t to = UINT64_MAX);
  const unsigned char* on_disk(uint64_t at) const noexcept;
  bytes leave(random_source& random);
  bool is_this(int fd) const noexcept;
  bool is_mapped() const;
  void sync(uint64_t from, uint64_t to, bool worked);

  const std::string path_;
  uint64_t device_ = 0, inode_ = 0;
  mapping::file as_mapped_;
  int fd_ = -1;
  static std::mutex mutex_;  // of all disks, which lose their power at one moment
  bytes seen_;               // the file's bytes at the last look
  bytes disk_;
  bytes clean_;  // each page's bytes when it was last clean
  uint64_t failures_ = 0;
};

}  // namespace scute::test

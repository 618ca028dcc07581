// SPDX-License-Identifier: BSD-3-Clause
// An open pool file: owned descriptor, lock against other openers, size.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/file/descriptor.hpp"

namespace scute::core {
class kept_lock;
}  // namespace scute::core

namespace scute::core::medium {

class file_handle {
 public:
  // Opens an existing regular file and locks it: shared when it is only read, else exclusive. Fails
  // with SCUTE_E_NOENT, SCUTE_E_READONLY (no write permission), SCUTE_E_BUSY, SCUTE_E_UNSUPPORTED
  // (its file system keeps no locks).
  static file_handle open(const std::string& path, access wanted);

  // Takes over a registered descriptor of a file. lock: its lock, shared with the maker of the file
  // (core/file/new_file.hpp); none if another owner locks the file (core/medium/user_file.hpp).
  static file_handle adopt(int fd, std::string path, uint64_t size,
                           std::shared_ptr<kept_lock> lock = nullptr) noexcept;

  // Reserves blocks for bytes that no thread stores to meanwhile, so that later stores find room;
  // the bytes stay as they are. Returns 0, or an errno: ENOSPC, EDQUOT or EFBIG if there is no
  // room.
  int reserve(uint64_t offset, uint64_t n) const noexcept;
  // The same, but only in the file's holes, as far as the file system reports them: written ranges
  // are skipped without a check of each block.
  int fill_holes(uint64_t offset, uint64_t n) const noexcept;
  // Makes the file at least offset + n long, with blocks and zeros from offset on. Returns 0, or an
  // errno. Neither this nor cut() is durable before a sync. The owner syncs, since it knows which
  // other threads do (CACHE-1).
  int grow(uint64_t offset, uint64_t n) const noexcept;
  // Ends the file there; false if the system refuses.
  bool cut(uint64_t offset) const noexcept;
  // Throws SCUTE_E_NOSPC if the file has fewer than n bytes of blocks, and the file system has not
  // the rest free. To be called before blocks are reserved one after the other: those would take
  // all that other programs need, until the last one fails. what: takes these bytes.
  void require_room(uint64_t n, const std::string& what) const;
  // Reserves the whole file, if require_room() allows that. SCUTE_E_NOSPC names the shortage;
  // progress is called now and then.
  void reserve_all(void (*progress)(void*, uint64_t, uint64_t), void* progress_arg) const;
  // Reads all of these bytes; false if the system fails or the file ends before.
  bool read(uint64_t offset, void* to, size_t n) const noexcept;
  // Whether every byte of the file is zero.
  bool is_only_zeros() const;

  // NUMBER-1: for one system call; -1 if the program has closed it.
  int fd() const noexcept { return fd_.get(); }
  // The lock of the file, which a caller may keep for longer.
  std::shared_ptr<kept_lock> kept() const noexcept { return lock_; }
  uint64_t size() const noexcept { return size_; }
  const std::string& path() const noexcept { return path_; }
  bool on_tmpfs() const;

 private:
  void lock(access wanted);
  void look_for_supervisor() const;
  descriptor fd_;
  std::shared_ptr<kept_lock> lock_;
  uint64_t size_ = 0;
  std::string path_;
};

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
// An open pool file: owned descriptor, lock against other openers, size.
#pragma once

#include <cstdint>
#include <string>

namespace scute::medium {

class file_handle {
 public:
  file_handle() = default;
  ~file_handle();
  file_handle(file_handle&& other) noexcept;
  file_handle& operator=(file_handle&& other) noexcept;

  // Opens an existing regular file and locks it: shared when read_only, else
  // exclusive. Fails with SCUTE_E_NOENT, SCUTE_E_READONLY (no write permission), SCUTE_E_BUSY.
  static file_handle open(const std::string& path, bool read_only);

  // Creates a new file of exactly size bytes under path, which must not exist. With preallocate
  // every block is reserved (SCUTE_E_NOSPC names the shortage); progress is called now and then.
  static file_handle create(const std::string& path, uint64_t size, unsigned mode, bool preallocate,
                            void (*progress)(void*, uint64_t, uint64_t), void* progress_arg);

  int fd() const noexcept { return fd_; }
  uint64_t size() const noexcept { return size_; }
  const std::string& path() const noexcept { return path_; }
  bool on_tmpfs() const;

 private:
  void lock(bool shared);
  int fd_ = -1;
  void* lock_ = nullptr;  // a mapping that keeps the lock
  uint64_t size_ = 0;
  std::string path_;
};

}  // namespace scute::medium

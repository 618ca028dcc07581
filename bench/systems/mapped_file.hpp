// SPDX-License-Identifier: BSD-3-Clause
// A file of this process's own, mapped, and removed at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace scute::bench {

class mapped_file {
 public:
  mapped_file(const std::string& path, uint64_t size);
  // Maps an existing file for reading, and leaves it where it is.
  explicit mapped_file(const std::string& path);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  std::byte* bytes() const noexcept { return bytes_; }
  uint64_t size() const noexcept { return size_; }

 private:
  void map(int fd, int access);

  std::string path_;
  bool remove_;
  std::byte* bytes_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace scute::bench

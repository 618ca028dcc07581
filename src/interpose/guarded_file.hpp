// SPDX-License-Identifier: BSD-3-Clause
// A shielded file that this process has open: its pool, its view, and who still uses it.
//
// GUARD-1 The program gets descriptors of the view's bytes only, and mappings of them (SHIELD-7).
// GUARD-2 The pool is open as long as the program has a descriptor or a shared mapping of the file; when the last one goes, all that
//    differs is written, the pool is closed, and other processes may have the file.
// GUARD-3 The holder has both memory files before the program has anything of the view (WIRE-2).
// GUARD-4 A child of fork() has what its parent mapped, to read; what it flushes, fences or syncs is its parent's affair. To use
//    the file itself it opens it again, when its parent has closed it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "interpose/pool_backing.hpp"
#include "view/view.hpp"

struct stat;

namespace scute::core::interpose {

struct file_identity {
  uint64_t device = 0, inode = 0;
  bool operator==(const file_identity&) const = default;
};
file_identity identity_of(const struct stat& s) noexcept;

class guarded_file {
 public:
  // In a critical section, this and all that changes references.
  static guarded_file* find(const file_identity& id) noexcept;
  // It gets one reference. Throws failure.
  static guarded_file& open(const std::string& path, const file_identity& id);

  const std::string& path() const noexcept { return path_; }
  const file_identity& identity() const noexcept { return id_; }
  view::view& view() noexcept { return *view_; }

  // A new open file of the view's bytes, close-on-exec; -1 with errno.
  int open_bytes(int flags) const noexcept;
  bool is_bytes(const struct stat& s) const noexcept { return identity_of(s) == bytes_id_; }

  uint64_t size() const noexcept;
  // Throws failure.
  void grow(uint64_t size);
  // What write(2) has appended without us. Throws failure.
  void notice_growth();
  void write_back(uint64_t offset, uint64_t n);

  void enter() noexcept { ++references_; }
  void leave() noexcept;
  bool is_open() const noexcept { return open_; }
  static void become_child() noexcept;

 private:
  guarded_file() = default;
  void close() noexcept;

  std::string path_;
  file_identity id_, bytes_id_;
  std::unique_ptr<pool_backing> backing_;
  std::unique_ptr<view::view> view_;
  int head_ = -1, bytes_ = -1;
  void *head_at_ = nullptr, *bytes_at_ = nullptr;
  uint64_t head_size_ = 0, capacity_ = 0;
  uint32_t number_ = 0;
  unsigned references_ = 0;
  bool open_ = false;
};

}  // namespace scute::core::interpose

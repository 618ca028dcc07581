// SPDX-License-Identifier: BSD-3-Clause
// The files that a mapped medium's bytes are of: one, or one and parts of another that lie in
// between.
//
// JOIN-1 Every page of the medium is of exactly one file, and every system call for it reaches that
//        file: a page of the other file that was written to the first one instead would be old
//        again after the next opening.
// JOIN-2 The other file never gets longer by a write: its last page may be part of a page, and what
//    is written there ends where the file ends.
// JOIN-3 What is made durable is made durable in both files.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "medium/file_handle.hpp"

namespace scute::core::medium {

// Where the bytes of the other file lie: `share` bytes of it at `first`, the next as many at first
// + stride, and so on, as far as the file goes. All multiples of a page.
struct segments {
  uint64_t first = 0, stride = 0, share = 0;
  uint32_t count = 0;

  uint64_t room() const noexcept { return share * count; }
  // Of a byte of the other file.
  uint64_t place_of(uint64_t at) const noexcept { return first + at / share * stride + at % share; }
};

class composition {
 public:
  static constexpr uint64_t page = 4096;

  explicit composition(file_handle own) : own_(std::move(own)) {}

  // One thread at a time, before any thread looks at the other file's future pages, or while there
  // are zeros; the medium maps it.
  void join(const file_handle& other, const segments& where) noexcept {
    where_ = where;
    other_ = &other;
  }
  void set_size(uint64_t size) noexcept { size_.store(size, std::memory_order_release); }

  const file_handle& own() const noexcept { return own_; }
  const file_handle* other() const noexcept { return other_; }
  const segments& where() const noexcept { return where_; }
  // Bytes of the other file that are here.
  uint64_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  // A run of bytes of one file, from `at` on there.
  struct part {
    const file_handle* file;
    uint64_t at, length;
    uint64_t bytes;  // so many of them are in the file; the other ones, after its end, are zeros
  };
  // The run that begins at this offset, and at most n long. Async-signal-safe.
  part find(uint64_t offset, uint64_t n) const noexcept;
  bool is_other(uint64_t offset) const noexcept { return find(offset, 1).file == other_; }

  // Calls fn(part, offset) for all runs until it returns other than 0; returns that.
  template <typename Fn>
  int for_each(uint64_t offset, uint64_t n, Fn&& fn) const {
    while (n != 0) {
      const part p = find(offset, n);
      if (const int e = fn(p, offset); e != 0) return e;
      offset += p.length;
      n -= p.length;
    }
    return 0;
  }
  // The same for what of [from, to) of the other file is here: fn(part, offset in the medium).
  template <typename Fn>
  void for_each_segment(uint64_t from, uint64_t to, Fn&& fn) const {
    for (uint64_t at = from; at < to;) {
      const uint64_t n = std::min(to - at, where_.share - at % where_.share);
      fn(part{other_, at, n, std::min(n, size() - std::min(size(), at))}, where_.place_of(at));
      at += n;
    }
  }

  // One page by system calls (JOIN-1, JOIN-2). False if the file does not take it.
  // Async-signal-safe.
  bool write_page(uint64_t offset, const std::byte* bytes) const noexcept;
  // Gives the page's block back.
  void punch(uint64_t offset) const noexcept;
  // All bytes, false if the system is in the way.
  bool read(uint64_t offset, void* to, size_t n) const noexcept;
  int reserve(uint64_t offset, uint64_t n) const noexcept;
  int fill_holes(uint64_t offset, uint64_t n) const noexcept;
  // JOIN-3: 0, or an errno.
  int sync() const noexcept;
  // The kernel forgets what it has of the files in memory, as far as that is durable.
  void drop_cache() const noexcept;
  // Writes again the pages that the kernel has kept (another process reads a file at this moment,
  // or the file system drops nothing), so that the device has it. base: where all is mapped. False
  // with errno.
  bool rewrite_resident(std::byte* base, uint64_t size) const;
  // Those that the kernel knows to be bad, as offsets in the medium.
  std::vector<uint64_t> bad_pages() const;
  // For messages.
  std::string path() const;

 private:
  bool store_page(const part& p, const std::byte* bytes) const noexcept;

  file_handle own_;
  const file_handle* other_ = nullptr;
  segments where_;
  std::atomic<uint64_t> size_{0};
};

}  // namespace scute::core::medium

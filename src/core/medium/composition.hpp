// SPDX-License-Identifier: BSD-3-Clause
// The files below a mapped medium: one, or one with parts of another in between.
//
// JOIN-1 Every page of the medium belongs to exactly one file, and every system call for it goes to
//    that file. A page of the other file written to the first one would be old again after the next
//    opening.
// JOIN-2 A write never makes the other file longer: its last page may be partial, and a write there
//    ends at the file's end.
// JOIN-3 Bytes are made durable in both files.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/file/file_handle.hpp"

namespace scute::core::medium {

// The layout of the other file's bytes: `share` bytes of it at `first`, the next as many at first +
// stride, and so on, to the file's end. All are multiples of a page.
struct segments {
  uint64_t first = 0, stride = 0, share = 0;
  uint32_t count = 0;

  uint64_t room() const noexcept { return share * count; }
  // The place in the medium of a byte of the other file.
  uint64_t place_of(uint64_t at) const noexcept { return first + at / share * stride + at % share; }
};

class composition {
 public:
  static constexpr uint64_t page = 4096;

  explicit composition(file_handle own) : own_(std::move(own)) {}

  // One thread at a time calls it, before any thread accesses the other file's pages, or while they
  // are zeros; the medium maps them.
  void join(const file_handle& other, const segments& where) noexcept {
    where_ = where;
    other_ = &other;
  }
  void set_size(uint64_t size) noexcept { size_.store(size, std::memory_order_release); }

  const file_handle& own() const noexcept { return own_; }
  const file_handle* other() const noexcept { return other_; }
  const segments& where() const noexcept { return where_; }
  // How many bytes of the other file are here.
  uint64_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  // A run of bytes of one file, from offset `at` of that file on.
  struct part {
    const file_handle* file;
    uint64_t at, length;
    uint64_t bytes;  // how many of them are in the file; the rest, after its end, are zeros
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
  // The same for the part of [from, to) of the other file that is here: fn(part, offset in the
  // medium).
  template <typename Fn>
  void for_each_segment(uint64_t from, uint64_t to, Fn&& fn) const {
    for (uint64_t at = from; at < to;) {
      const uint64_t n = std::min(to - at, where_.share - at % where_.share);
      fn(part{other_, at, n, std::min(n, size() - std::min(size(), at))}, where_.place_of(at));
      at += n;
    }
  }

  // Writes one page by system calls (JOIN-1, JOIN-2). Returns false if the file does not take it.
  // Async-signal-safe.
  bool write_page(uint64_t offset, const std::byte* bytes) const noexcept;
  // Releases the page's block.
  void punch(uint64_t offset) const noexcept;
  // Reads all bytes; false if the system fails.
  bool read(uint64_t offset, void* to, size_t n) const noexcept;
  int reserve(uint64_t offset, uint64_t n) const noexcept;
  int fill_holes(uint64_t offset, uint64_t n) const noexcept;
  // JOIN-3: 0, or an errno.
  int sync() const noexcept;
  // Makes the kernel drop the files' pages from memory, as far as they are durable.
  void drop_cache() const noexcept;
  // Writes again those pages that the kernel has kept (another process is reading a file, or the
  // file system drops nothing), so that the device has them. base: where everything is mapped.
  // False with errno. Holes cost nothing, however large they are, and stay holes.
  bool rewrite_resident(std::byte* base, uint64_t size) const;
  // The pages that the kernel knows to be bad, as offsets in the medium.
  std::vector<uint64_t> bad_pages() const;
  // For messages.
  std::string path() const;

 private:
  bool store_page(const part& p, const std::byte* bytes) const noexcept;
  // The same for a run of pages that has no holes, as far as the file system knows. any: whether
  // something was written.
  static bool rewrite_pages(const file_handle& file, uint64_t at, uint64_t n, std::byte* mapped,
                            bool& any);

  file_handle own_;
  const file_handle* other_ = nullptr;
  segments where_;
  std::atomic<uint64_t> size_{0};
};

}  // namespace scute::core::medium

// SPDX-License-Identifier: BSD-3-Clause
// Memory between two inaccessible pages. A range is laid against either end, so that a kernel that
// reads or writes one byte too far dies at once, also in builds without a sanitizer; on its other
// side the filling shows writes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace scute::core::codec::test {

class guarded_buffer {
 public:
  explicit guarded_buffer(size_t capacity)
      : size_((capacity + page - 1) / page * page),
        base_(::mmap(nullptr, size_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED || ::mprotect(begin(), size_, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    std::memset(begin(), filling, size_);
  }
  ~guarded_buffer() { ::munmap(base_, size_ + 2 * page); }
  guarded_buffer(const guarded_buffer&) = delete;
  guarded_buffer& operator=(const guarded_buffer&) = delete;

  // `n` bytes, `n` <= capacity, that end at the inaccessible page or begin after it.
  unsigned char* at_end(size_t n) { return begin() + size_ - n; }
  unsigned char* at_begin() { return begin(); }
  unsigned char* place(size_t n, bool end) { return end ? at_end(n) : at_begin(); }

  // True if every byte outside [p, p + n) still has the filling. Fills the whole buffer again.
  bool intact_outside(const unsigned char* p, size_t n) {
    bool intact = true;
    for (unsigned char* q = begin(); q != begin() + size_; ++q) {
      intact = intact && ((q >= p && q < p + n) || *q == filling);
    }
    std::memset(begin(), filling, size_);
    return intact;
  }

 private:
  static constexpr size_t page = 4096;
  static constexpr unsigned char filling = 0xA5;

  unsigned char* begin() { return static_cast<unsigned char*>(base_) + page; }

  size_t size_;
  void* base_;
};

}  // namespace scute::core::codec::test

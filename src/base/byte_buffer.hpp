// SPDX-License-Identifier: BSD-3-Clause
// A byte buffer that grows at the end without being zeroed first, and keeps its memory when
// cleared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace scute::core {

class byte_buffer {
 public:
  void clear() noexcept { size_ = 0; }
  // Appends n bytes, uninitialised. Pointers into the buffer become invalid.
  std::byte* extend(size_t n) {
    if (size_ + n > capacity_) grow(size_ + n);
    std::byte* at = bytes_.get() + size_;
    size_ += n;
    return at;
  }
  // Makes room for n bytes in all.
  void reserve(size_t n) {
    if (n > capacity_) grow(n);
  }
  // Cuts the buffer to its first n bytes.
  void shrink(size_t n) noexcept { size_ = std::min(n, size_); }
  std::byte* data() noexcept { return bytes_.get(); }
  const std::byte* data() const noexcept { return bytes_.get(); }
  size_t size() const noexcept { return size_; }

 private:
  void grow(size_t least) {
    const size_t capacity = std::max(least, capacity_ * 2 + 256);
    std::unique_ptr<std::byte[]> larger(new std::byte[capacity]);
    std::copy(bytes_.get(), bytes_.get() + (size_ < capacity_ ? size_ : capacity_), larger.get());
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace scute::core

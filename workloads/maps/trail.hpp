// SPDX-License-Identifier: BSD-3-Clause
// The way from the top of a tree down to a node: a stack of at most N steps in the caller's frame,
// of which only what was pushed is ever written.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace scute::workloads {

template <class T, unsigned N>
class trail {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  trail() noexcept = default;  // leaves the room as it is
  trail(const trail&) = delete;
  trail& operator=(const trail&) = delete;

  // Sound trees are less than N deep. Others must not make us write beyond the end.
  void push(const T& step) {
    if (n_ == N) [[unlikely]]
      throw std::runtime_error("a tree is deeper than its keys allow");
    std::construct_at(at(n_), step);
    ++n_;
  }
  void pop() noexcept { --n_; }
  bool empty() const noexcept { return n_ == 0; }
  unsigned size() const noexcept { return n_; }
  T& back() noexcept { return *std::launder(at(n_ - 1)); }

 private:
  T* at(unsigned i) noexcept { return reinterpret_cast<T*>(room_) + i; }

  unsigned n_ = 0;
  alignas(T) std::byte room_[N * sizeof(T)];
};

}  // namespace scute::workloads

// SPDX-License-Identifier: BSD-3-Clause
// An allocator for tables that are large by their index and nearly empty. Their memory is zero, and
// is used only where it is touched. The kernel does not count it beforehand (MAP_NORESERVE), so
// such a table may be larger than the machine's memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace scute::core {

template <typename T>
struct lazy_allocator {
  using value_type = T;

  lazy_allocator() = default;
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor): as the standard library asks for it
  lazy_allocator(const lazy_allocator<U>&) noexcept {}

  // Allocates zeros. Throws std::bad_alloc.
  T* allocate(size_t n) {
    if (n > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    void* at = ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(at);
  }
  void deallocate(T* at, size_t n) noexcept { ::munmap(at, n * sizeof(T)); }

  friend bool operator==(const lazy_allocator&, const lazy_allocator&) noexcept { return true; }
};

}  // namespace scute::core

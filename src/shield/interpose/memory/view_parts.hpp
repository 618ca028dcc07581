// SPDX-License-Identifier: BSD-3-Clause
// Divides a range of addresses by the views that it lies in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/mappings.hpp"

namespace scute::core::interpose {

// Calls f(file, offset, n) for each part of the range that is in a view. Returns false if its
// beginning is in none. Async-signal-safe.
template <class F>
bool each_part(const void* at, size_t n, F&& f) noexcept {
  auto from = reinterpret_cast<uintptr_t>(at);
  const uintptr_t end = from + n < from ? UINTPTR_MAX : from + n;
  mapped_range range = mappings.find(from);
  if (range.file == nullptr) return false;
  while (range.file != nullptr && from < end) {
    const uintptr_t stop = end < range.end ? end : range.end;
    // In a child they are left to its parent (GUARD-4).
    if (range.file->is_open()) f(*range.file, range.offset_of(from), stop - from);
    from = stop;
    if (from < end) range = mappings.find(from);
  }
  return true;
}

}  // namespace scute::core::interpose

// SPDX-License-Identifier: BSD-3-Clause
// Reads the memory that a call's arguments point to. It may not exist; then the call is made all
// the same, and fails as it would have.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>

namespace scute::core::interpose {

// The bytes of all parts; 0 if unknown. Keeps errno.
size_t length_of(const struct iovec* parts, int count) noexcept;
// The memory from the first part's beginning to the last one's end. Keeps errno.
struct memory_range {
  const void* begin;
  size_t size;
};
memory_range range_of(const struct iovec* parts, int count) noexcept;
// -1 if there is none. Keeps errno.
off_t offset_at(const off_t* at) noexcept;

}  // namespace scute::core::interpose

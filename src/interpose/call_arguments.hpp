// SPDX-License-Identifier: BSD-3-Clause
// What a program's call will find where its arguments point, which may be nothing: then the call is
// made all the same, and fails as it would have.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>

namespace scute::core::interpose {

// Bytes of all parts; 0 if unknown. Keeps errno.
size_t length_of(const struct iovec* parts, int count) noexcept;
// From the first of them to the end of the last, in memory. Keeps errno.
struct memory_range {
  const void* begin;
  size_t size;
};
memory_range range_of(const struct iovec* parts, int count) noexcept;
// -1 if there is none. Keeps errno.
off_t offset_at(const off_t* at) noexcept;

}  // namespace scute::core::interpose

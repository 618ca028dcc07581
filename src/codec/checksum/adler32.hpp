// SPDX-License-Identifier: BSD-3-Clause
// Adler-32, the checksum of the Pangolin and Pavise papers. CRC-32C (crc32c.hpp) detects more,
// costs no more and is the default; this one is here so that the papers' configuration can be
// reproduced.
//
// All functions read exactly the `n` bytes given, at any alignment, and may be called from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::core::codec {

// The standard Adler-32 of a message: start with `adler` = 1, pass the previous result to continue
// with more bytes.
[[nodiscard]] uint32_t adler32(uint32_t adler, const void* p, size_t n) noexcept;

// The Adler-32 of a message after `n` of its bytes changed from old_bytes to new_bytes, given the
// message's Adler-32 before. `bytes_after` is the number of message bytes after the changed range.
// Reads both ranges once; the rest of the message is not needed.
[[nodiscard]] uint32_t adler32_update(uint32_t adler, const void* old_bytes, const void* new_bytes,
                                      size_t n, uint64_t bytes_after) noexcept;

}  // namespace scute::core::codec

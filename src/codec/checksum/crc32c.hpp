// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli) and its algebra.
//
// CRC is linear over XOR: with the register started at zero and no inversions,
//     linear(x ^ y) == linear(x) ^ linear(y)
// and appending zero bytes multiplies by a power of x modulo the polynomial. So the checksum of a
// long message after a small change costs the change, not the message:
//     crc(new) == crc(old) ^ shift(linear(old_bytes ^ new_bytes), bytes that follow them)
// (both inversions cancel). Pangolin had to take the weaker Adler-32 for want of this.
//
// All functions read exactly the `n` bytes given, at any alignment, and may be called from any
// thread. They have no state; the caller keeps the bytes stable while they run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::core::codec {

// The standard CRC-32C of a message: start with `crc` = 0, pass the previous result to continue
// with more bytes. The nine bytes "123456789" give 0xE3069283.
[[nodiscard]] uint32_t crc32c(uint32_t crc, const void* p, size_t n) noexcept;

// The same of n bytes and the crc32c_tail bytes of `tail`: a payload, and its header except for the
// checksum.
inline constexpr size_t crc32c_tail = 28;
[[nodiscard]] uint32_t crc32c_with_tail(const void* p, size_t n, const void* tail) noexcept;

// The linear CRC: the register starts at zero and nothing is inverted.
[[nodiscard]] uint32_t crc32c_linear(const void* p, size_t n) noexcept;

// crc32c_linear of the bytes a[i] ^ b[i], computed without storing them anywhere.
[[nodiscard]] uint32_t crc32c_linear_xor(const void* a, const void* b, size_t n) noexcept;

// The linear CRC of a message followed by `n` zero bytes, given the message's linear CRC. Constant
// time below 16 KiB, a few multiplications for any larger `n`.
[[nodiscard]] uint32_t crc32c_shift(uint32_t crc, uint64_t n) noexcept;

}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
// XOR over byte ranges: single parity, its updates, and the reconstruction of a lost row.
//
// All functions take any alignment and any length (0 included), read and write exactly the bytes
// given unless stated, and may be called from any thread. Ranges must not overlap partly; a
// destination may be exactly one of the sources where stated. Only xor_into_atomic may run on
// memory that other threads change at the same time; the others need the caller's lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scute::core::codec {

// dst ^= src.
void xor_into(void* dst, const void* src, size_t n) noexcept;

// dst = a ^ b. dst may be a or b.
void xor_delta(void* dst, const void* a, const void* b, size_t n) noexcept;

// dst = parity ^ old_bytes ^ new_bytes: the parity after one row changed, in one pass. dst may be
// any of the sources, in particular parity.
void xor_encode(void* dst, const void* parity, const void* old_bytes, const void* new_bytes,
                size_t n) noexcept;

// dst ^= delta with 8-byte atomic XORs (relaxed). Calls on the same destination from several
// threads commute and lose nothing. It is not atomic as a whole, and orders nothing: the caller's
// fence does. Words whose delta is zero are not touched. The first and last word are the aligned
// 8-byte words that hold dst's first and last byte: they must be mapped whole; their other bytes
// are XORed with zero, so other threads may change those too, but only atomically.
void xor_into_atomic(void* dst, const void* delta, size_t n) noexcept;
// The same, reporting its progress to a signal handler in the same thread: whenever dst is
// accessed, *done is the number of bytes of delta that are in dst.
void xor_into_atomic(void* dst, const void* delta, size_t n, uint32_t& done) noexcept;

// True if all `n` bytes are zero.
[[nodiscard]] bool is_zero(const void* p, size_t n) noexcept;

// dst = XOR of the `row_count` ranges rows[i], each `n` bytes; zeros if row_count is 0. dst may be
// one of the rows. Made for rows that are far apart and not in the cache: each row is read a few
// cache lines at a time and prefetched ahead, and dst is written once.
void xor_gather(void* dst, const void* const* rows, size_t row_count, size_t n) noexcept;

}  // namespace scute::core::codec

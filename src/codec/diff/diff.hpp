// SPDX-License-Identifier: BSD-3-Clause
// Finding what changed between two versions of a byte range.
#pragma once

#include <cstddef>

namespace scute::core::codec {

// Bytes [begin, end) of both versions.
struct diff_range {
  size_t begin;
  size_t end;
};

// Finds the first range at or after `from` in which a[0, n) and b[0, n) differ. Returns false, and
// leaves `out` alone, if the rest is equal. To visit all ranges, continue with from = out.end.
//
// Ranges are made of 8-byte words counted from a[0], cut to [from, n): a range begins and ends with
// a word that differs, and contains no stretch of `gap` or more bytes of equal words. So `gap` is
// the length from which two writes are cheaper than one that carries the equal bytes along; 8 or
// less separates all words. Every byte that differs is in some range, and two ranges are at least
// max(gap, 8) bytes apart.
//
// Any alignment. Reads only the bytes given. From any thread; the caller keeps the bytes stable.
[[nodiscard]] bool next_diff(const void* a, const void* b, size_t n, size_t from, size_t gap,
                             diff_range& out) noexcept;

}  // namespace scute::core::codec

// SPDX-License-Identifier: BSD-3-Clause
// The checksum kinds that a pool can be created with, in one
// interface.
//
// The numbers are part of the on-media format (superblock); do not renumber.
// All functions may be called from any thread; an unknown kind (a corrupt superblock that was not
// rejected) behaves as `none` rather than trapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace scute::core::codec {

enum class checksum_kind : uint8_t { none = 0, crc32c = 1, adler32 = 2 };

// The checksum of the na + nb bytes a||b: a header without its checksum field and the payload,
// which need not be contiguous. Either length may be 0. `none` gives 0.
[[nodiscard]] uint32_t checksum(checksum_kind kind, const void* a, size_t na, const void* b,
                                size_t nb) noexcept;

// That of a message with these n bytes after it, given its own; begun with checksum(kind, nullptr,
// 0, nullptr, 0).
[[nodiscard]] uint32_t checksum_more(checksum_kind kind, uint32_t sum, const void* p,
                                     size_t n) noexcept;

// The checksum of a message after `n` of its bytes changed from old_bytes to new_bytes, given its
// checksum before. `bytes_after` is the number of message bytes after the changed range. Costs time
// for `n` bytes, whatever the length of the message. `sum` must be right, or the result is as wrong
// as `sum` was: an update neither detects nor hides earlier damage.
[[nodiscard]] uint32_t checksum_update(checksum_kind kind, uint32_t sum, const void* old_bytes,
                                       const void* new_bytes, size_t n,
                                       uint64_t bytes_after) noexcept;

// "none", "crc32c", "adler32"; "unknown" for anything else. Static storage.
[[nodiscard]] const char* checksum_name(checksum_kind kind) noexcept;

// The reverse of checksum_name. Returns false and leaves `out` alone if the name is not one of the
// kinds.
[[nodiscard]] bool checksum_parse(std::string_view name, checksum_kind& out) noexcept;

}  // namespace scute::core::codec

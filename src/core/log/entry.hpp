// SPDX-License-Identifier: BSD-3-Clause
// One log entry: a head, followed by records. This file builds and tests entries. The owner of a
// log decides where entries lie, their order, and when one counts.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

#include "base/byte_buffer.hpp"
#include "base/rounding.hpp"
#include "core/log/format.hpp"

namespace scute::core::log {

// The owner of entries: bytes of another file, session or lane are no entries here.
struct identity {
  uint64_t salt;   // of the file
  uint64_t epoch;  // of the session that wrote it
  uint32_t lane;
};

// Rounds up to a multiple of 64, where entries begin.
constexpr uint64_t round_line(uint64_t n) noexcept {
  return round_up(n, 64);
}

// ---- writing ------------------------------------------------------------------------------------

// Makes room for the head, which seal() fills in.
inline void begin(byte_buffer& image) {
  image.clear();
  image.extend(sizeof(format::log_entry));
}
void add_record(byte_buffer& image, const format::log_record& r, const void* bytes);
// bytes: null for a record without any.
inline void add_record(byte_buffer& image, format::record_kind kind, uint64_t offset,
                       const void* bytes, uint32_t length) {
  const format::log_record r{offset, length, static_cast<uint32_t>(kind)};
  constexpr uint32_t common = 32;  // most of an allocator's records are headers
  if (bytes == nullptr || length != common) return add_record(image, r, bytes);
  std::byte* at = image.extend(sizeof r + common);
  std::memcpy(at, &r, sizeof r);
  std::memcpy(at + sizeof r, bytes, common);
}
// Completes the head. position: where the entry will lie in its area.
void seal(byte_buffer& image, const identity& whose, uint32_t flags, uint64_t sequence,
          uint64_t transaction, uint64_t position) noexcept;

// ---- testing ------------------------------------------------------------------------------------

uint32_t entry_checksum(const std::byte* entry, size_t size) noexcept;
uint32_t link_checksum(const format::log_link& link, const std::byte* records) noexcept;

// Tests a head without summing the body. room: bytes from the head to the end of its area.
bool fits(const format::log_entry& e, const identity& whose, uint64_t position,
          uint64_t room) noexcept;

using record_fn = std::function<void(format::record_kind kind, uint64_t offset,
                                     const std::byte* bytes, uint32_t length)>;
// Calls fn for each record. Returns false, before the first call, if a record is malformed or
// `allowed` rejects its range.
bool for_each_record(std::span<const std::byte> records,
                     const std::function<bool(uint64_t offset, uint64_t length)>& allowed,
                     const record_fn& fn);

// ---- status words -------------------------------------------------------------------------------

// A 48-bit value and a 16-bit check of it, in one word that is written atomically.
enum class status_word : uint32_t { applied = 0, undone = 1 };
uint64_t make_status_word(const identity& whose, status_word which, uint64_t value) noexcept;
bool read_status_word(const identity& whose, status_word which, uint64_t word,
                      uint64_t& value) noexcept;

}  // namespace scute::core::log

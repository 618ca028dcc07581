// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/entry.hpp"

#include "base/rounding.hpp"
#include "codec/checksum/crc32c.hpp"

namespace scute::core::log {

void add_record(byte_buffer& image, const format::log_record& r, const void* bytes) {
  const size_t payload = bytes == nullptr ? 0 : round_up(r.length, 8);
  std::byte* at = image.extend(sizeof r + payload);
  std::memcpy(at, &r, sizeof r);
  if (payload == 0) return;
  std::memset(at + sizeof r + payload - 8, 0, 8);  // padding
  std::memcpy(at + sizeof r, bytes, r.length);
}

void seal(byte_buffer& image, const identity& whose, uint32_t flags, uint64_t sequence,
          uint64_t transaction, uint64_t position) noexcept {
  format::log_entry e{};
  e.magic = format::entry_magic;
  e.epoch = whose.epoch;
  e.sequence = sequence;
  e.transaction = transaction;
  e.lane = whose.lane;
  e.flags = flags;
  e.body_size = image.size() - sizeof e;
  e.pool_salt = whose.salt;
  e.position = position;
  std::memcpy(image.data(), &e, sizeof e);
  e.checksum = entry_checksum(image.data(), image.size());
  std::memcpy(image.data() + offsetof(format::log_entry, checksum), &e.checksum, 4);
}

uint32_t entry_checksum(const std::byte* entry, size_t size) noexcept {
  constexpr size_t after = offsetof(format::log_entry, checksum) + 4;
  return codec::crc32c(0, entry + after, size - after);
}

uint32_t link_checksum(const format::log_link& link, const std::byte* records) noexcept {
  const uint32_t head = codec::crc32c(0, &link, offsetof(format::log_link, checksum));
  return codec::crc32c(head, records, link.length);
}

bool fits(const format::log_entry& e, const identity& whose, uint64_t position,
          uint64_t room) noexcept {
  return e.magic == format::entry_magic && e.position == position && e.pool_salt == whose.salt &&
         e.epoch == whose.epoch && e.lane == whose.lane && room >= sizeof e &&
         e.body_size <= room - sizeof e;
}

bool for_each_record(std::span<const std::byte> records,
                     const std::function<bool(uint64_t offset, uint64_t length)>& allowed,
                     const record_fn& fn) {
  const auto walk = [&](bool call) {
    size_t at = 0;
    while (at < records.size()) {
      format::log_record r;
      if (records.size() - at < sizeof r) return false;
      std::memcpy(&r, records.data() + at, sizeof r);
      at += sizeof r;
      const auto kind = static_cast<format::record_kind>(r.kind);
      const bool with_bytes =
          kind == format::record_kind::data || kind == format::record_kind::undo;
      if (!with_bytes && kind != format::record_kind::intent && kind != format::record_kind::placed)
        return false;
      const size_t payload = with_bytes ? round_up(r.length, 8) : 0;
      if (payload > records.size() - at || !allowed(r.offset, r.length)) return false;
      if (call) fn(kind, r.offset, with_bytes ? records.data() + at : nullptr, r.length);
      at += payload;
    }
    return true;
  };
  return walk(false) && walk(true);
}

uint64_t make_status_word(const identity& whose, status_word which, uint64_t value) noexcept {
  value &= 0xffff'ffff'ffffu;
  const uint64_t message[3] = {
      value, whose.epoch << 9 | uint64_t{whose.lane} << 1 | static_cast<uint64_t>(which),
      whose.salt};
  return value | uint64_t{codec::crc32c(0, message, sizeof message) & 0xffff} << 48;
}

bool read_status_word(const identity& whose, status_word which, uint64_t word,
                      uint64_t& value) noexcept {
  value = word & 0xffff'ffff'ffffu;
  return word != 0 && make_status_word(whose, which, value) == word;
}

}  // namespace scute::core::log

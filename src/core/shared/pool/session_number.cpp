// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/pool/session_number.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/failure.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/shared/state.hpp"

namespace scute::core::pool {
namespace {

// The linear CRC of a message that ends with its own CRC is 0, like that of zeros.
uint32_t check_of(const session_number& n) noexcept {
  return codec::crc32c_linear(&n, offsetof(session_number, check));
}

bool ends_as(uint64_t number, uint64_t epoch) noexcept {
  return static_cast<uint16_t>(number) == static_cast<uint16_t>(epoch);
}

session_number in(const void* bytes) noexcept {
  session_number n;
  std::memcpy(&n, bytes, sizeof n);
  return n;
}

session_number stated_by(const void* bytes, uint64_t epoch) noexcept {
  session_number n = in(bytes);
  if (n.check != check_of(n) || !ends_as(n.number, epoch)) return {};
  if (!ends_as(n.before, epoch - 1)) n.before = 0;
  return n;
}

// Random; but a simulation takes the same course each time.
uint64_t draw(const state& s, uint64_t epoch) {
  uint64_t random = 0;
  if (s.medium->what() == medium::kind::simulated) {
    const uint64_t of[] = {s.salt, epoch, s.sb.sequence};
    random = codec::crc32c(0, of, sizeof of);
  } else if (::getrandom(&random, sizeof random, 0) != ssize_t{sizeof random}) {
    throw_errno("get random bytes for the session's number", errno);
  }
  // Never 0, whatever was drawn and however the epoch ends.
  return (random | 1) << 16 | static_cast<uint16_t>(epoch);
}

}  // namespace

session_number session_of(const format::superblock& sb) noexcept {
  return stated_by(sb.reserved, sb.epoch);
}

session_number session_of(const format::log_file_head& h) noexcept {
  return stated_by(h.reserved, h.epoch);
}

bool may_be_same(uint64_t a, uint64_t b) noexcept {
  return a == 0 || b == 0 || a == b;
}

void number_session(state& s, uint64_t epoch) {
  const session_number there = in(s.sb.reserved);
  if (there.number != 0 && ends_as(there.number, epoch) && there.check == check_of(there)) return;
  session_number fresh{};
  fresh.before = session_of(s.sb).number;
  fresh.number = draw(s, epoch);
  fresh.check = check_of(fresh);
  std::memcpy(s.sb.reserved, &fresh, sizeof fresh);
}

bool may_be_torn_session(const format::superblock& copy,
                         const format::superblock& newest) noexcept {
  const session_number mine = in(copy.reserved), last = in(newest.reserved);
  if (std::memcmp(&mine, &last, sizeof mine) == 0) return true;
  const uint64_t e = newest.epoch;
  const bool number = mine.number == last.number || mine.number == last.before ||
                      mine.number == 0 || ends_as(mine.number, e + 1) ||
                      ends_as(mine.number, e - 2);
  const bool before = mine.before == last.before || mine.before == last.number ||
                      mine.before == 0 || ends_as(mine.before, e - 2) ||
                      ends_as(mine.before, e - 3);
  // The check of two numbers that are not both the newest ones cannot be known.
  const bool check = mine.check == last.check || mine.check == check_of(mine) ||
                     mine.number != last.number || mine.before != last.before ||
                     copy.checksum != newest.checksum;
  return number && before && check && mine.reserved == last.reserved;
}

void copy_session(const format::superblock& from, format::log_file_head& to) noexcept {
  std::memcpy(to.reserved, from.reserved, sizeof(session_number));
}

}  // namespace scute::core::pool

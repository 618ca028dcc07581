// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/recovery/truncation_point.hpp"

#include <optional>

#include "base/failure.hpp"
#include "codec/checksum/crc32c.hpp"

namespace scute::core::engine {
namespace {

constexpr uint64_t truncation_magic = 0x486f727aULL << 32;  // "Horz"

bool is_truncation_point(const pool::state& s, const uint64_t (&words)[2]) noexcept {
  return words[1] == check_of_truncation_point(s, words[0]) && words[0] < lsn_max;
}

}  // namespace

uint64_t check_of_truncation_point(const pool::state& s, uint64_t lsn) noexcept {
  const uint64_t message[2] = {s.salt, lsn};
  return truncation_magic | codec::crc32c(0, message, sizeof message);
}

truncation_found read_truncation_point(const pool::state& s,
                                       const log_location& location) noexcept {
  truncation_found best;
  for (uint32_t r = 0; r < location.truncation_copies(); ++r)
    for (uint32_t which = 0; which < 2; ++which) {
      uint64_t words[2];
      if (!location.target().read(location.truncation_at(which, r), words, sizeof words)) continue;
      if (is_truncation_point(s, words) && words[0] > best.lsn) best = {words[0], which};
    }
  return best;
}

void stream_truncation_point(const pool::state& s, const log_location& location, medium::writer& w,
                             truncation_found to) noexcept {
  const uint64_t words[2] = {to.lsn, check_of_truncation_point(s, to.lsn)};
  for (uint32_t r = 0; r < location.truncation_copies(); ++r)
    w.stream(location.target().base() + location.truncation_at(to.place, r), words, sizeof words,
             medium::purpose::log);
}

truncation_words look_at_truncation_point(const pool::state& s,
                                          const log_location& location) noexcept {
  std::optional<uint64_t> of_place[2];
  for (uint32_t r = 0; r < location.truncation_copies(); ++r)
    for (uint32_t which = 0; which < 2; ++which) {
      uint64_t words[2];
      if (!location.target().read(location.truncation_at(which, r), words, sizeof words))
        return truncation_words::damaged;
      const bool is_empty = words[0] == 0 && words[1] == 0;
      if (!is_empty && !is_truncation_point(s, words)) return truncation_words::damaged;
      if (of_place[which].value_or(words[0]) != words[0]) return truncation_words::damaged;
      of_place[which] = words[0];
    }
  const bool alike = of_place[0] == of_place[1] && of_place[0].value_or(0) != 0;
  return alike ? truncation_words::alike : truncation_words::unlike;
}

void require_lsn(const pool::state& s, uint64_t lsn) {
  if (lsn < lsn_max) return;
  throw failure(SCUTE_E_CORRUPT, s.path + ": its log names an LSN that no log can have (" +
                                     std::to_string(lsn) + "); restore the pool from a backup");
}

}  // namespace scute::core::engine

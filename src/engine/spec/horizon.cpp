// SPDX-License-Identifier: BSD-3-Clause
#include "engine/spec/horizon.hpp"

#include <optional>

#include "base/failure.hpp"
#include "base/planted.hpp"
#include "codec/crc32c.hpp"

namespace scute::core::engine {
namespace {

constexpr uint64_t horizon_magic = 0x486f727aULL << 32;  // "Horz"

bool is_horizon(const pool::state& s, const uint64_t (&words)[2]) noexcept {
  return words[1] == check_of_horizon(s, words[0]) && words[0] < sequence_max;
}

}  // namespace

uint64_t check_of_horizon(const pool::state& s, uint64_t sequence) noexcept {
  const uint64_t message[2] = {s.salt, sequence};
  return horizon_magic | codec::crc32c(0, message, sizeof message);
}

horizon_found read_horizon(const pool::state& s, const log_home& home) noexcept {
  horizon_found best;
  for (uint32_t r = 0; r < home.horizon_copies(); ++r)
    for (uint32_t which = 0; which < 2; ++which) {
      uint64_t words[2];
      if (!home.target().read(home.horizon_at(which, r), words, sizeof words)) continue;
      if (is_horizon(s, words) && (words[0] > best.sequence || SCUTE_PLANTED(horizon_greatest)))
        best = {words[0], which};
    }
  return best;
}

void stream_horizon(const pool::state& s, const log_home& home, medium::writer& w,
                    horizon_found to) noexcept {
  const uint64_t words[2] = {to.sequence, check_of_horizon(s, to.sequence)};
  for (uint32_t r = 0; r < home.horizon_copies() && (r == 0 || !SCUTE_PLANTED(horizon_copy)); ++r)
    w.stream(home.target().base() + home.horizon_at(to.place, r), words, sizeof words,
             medium::purpose::log);
}

horizon_words look_at_horizon(const pool::state& s, const log_home& home) noexcept {
  std::optional<uint64_t> of_place[2];
  for (uint32_t r = 0; r < home.horizon_copies(); ++r)
    for (uint32_t which = 0; which < 2; ++which) {
      uint64_t words[2];
      if (!home.target().read(home.horizon_at(which, r), words, sizeof words))
        return horizon_words::damaged;
      const bool is_empty = words[0] == 0 && words[1] == 0;
      if (!is_empty && !is_horizon(s, words)) return horizon_words::damaged;
      if (of_place[which].value_or(words[0]) != words[0]) return horizon_words::damaged;
      of_place[which] = words[0];
    }
  const bool alike = of_place[0] == of_place[1] && of_place[0].value_or(0) != 0;
  return alike ? horizon_words::alike : horizon_words::unlike;
}

void require_sequence(const pool::state& s, uint64_t sequence) {
  if (sequence < sequence_max || SCUTE_PLANTED(horizon_wraps)) return;
  throw failure(SCUTE_E_CORRUPT, s.path + ": its log has a sequence that no log can have (" +
                                     std::to_string(sequence) +
                                     "); restore the pool from a backup");
}

}  // namespace scute::core::engine

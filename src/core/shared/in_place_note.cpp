// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/in_place_note.hpp"

#include <algorithm>
#include <cstring>

#include "codec/checksum/crc32c.hpp"

namespace scute::core::pool {
namespace {

constexpr uint64_t value_mask = 0xffff'ffff'ffffu;
// Notes of this many epochs are searched for: nothing depends on older ones, and a superblock may
// claim any epoch.
constexpr uint64_t epochs_max = 256;

// A word with its own check, like the other words of the line (core/engine/common/lane_log.hpp);
// word 0 is the beginning.
uint64_t make_word(const state& s, uint64_t epoch, uint32_t lane, uint64_t word,
                   uint64_t value) noexcept {
  const uint64_t message[4] = {value, epoch, uint64_t{lane} << 1 | word, s.salt};
  return value | uint64_t{codec::crc32c(0, message, sizeof message) & 0xffff} << 48;
}

void store(const state& s, lane& l, const uint64_t (&words)[2]) noexcept {
  l.w.store(s.at(s.geo.lane_offset(l.index, 0) + offsetof(format::lane_status, in_place)), words,
            sizeof words);
}

// The range that a lane's note of an epoch after `resolved` and before `present` names; of length 0
// if there is none.
data_range note_of(const state& s, uint32_t lane, uint64_t resolved, uint64_t present) noexcept {
  uint64_t words[2];
  std::memcpy(words, s.at(s.geo.lane_offset(lane, 0) + offsetof(format::lane_status, in_place)),
              sizeof words);
  const uint64_t begin = words[0] & value_mask, end = words[1] & value_mask;
  if (begin >= end) return {};
  const uint64_t first = std::max(resolved + 1, present - std::min(present, epochs_max));
  for (uint64_t epoch = first; epoch < present; ++epoch)
    if (words[0] == make_word(s, epoch, lane, 0, begin) &&
        words[1] == make_word(s, epoch, lane, 1, end))
      return {begin, end - begin};
  return {};
}

}  // namespace

void note_in_place(const state& s, lane& l, data_range hull) noexcept {
  const uint64_t words[2] = {make_word(s, s.sb.epoch, l.index, 0, hull.offset),
                             make_word(s, s.sb.epoch, l.index, 1, hull.offset + hull.length)};
  store(s, l, words);
}

void forget_in_place(const state& s, lane& l) noexcept {
  const uint64_t words[2] = {};
  store(s, l, words);
}

bool has_earlier_note(const state& s, const lane& l) noexcept {
  // Any epoch counts: the end of the scan may be writing sb.resolved_epoch now (EPOCH-1).
  return note_of(s, l.index, 0, s.sb.epoch).length != 0;
}

std::vector<data_range> noted_in_place(const state& s, uint64_t resolved, uint64_t present) {
  std::vector<data_range> all;
  for (uint32_t lane = 0; lane < s.geo.lane_count; ++lane)
    if (const data_range x = note_of(s, lane, resolved, present); x.length != 0) all.push_back(x);
  return all;
}

}  // namespace scute::core::pool

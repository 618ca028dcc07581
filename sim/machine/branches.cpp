// SPDX-License-Identifier: BSD-3-Clause
#include "machine/branches.hpp"

#include <algorithm>
#include <bit>

namespace scute::sim {
namespace {

constexpr uint64_t factor = 0x9e3779b97f4a7c15;

constexpr uint32_t mix(uint64_t address) noexcept {
  return static_cast<uint32_t>((address * factor) >> 32);
}

// Of branches::lanes: where each begins, and how many bits it has.
constexpr unsigned lane_at[] = {0, 16, 32}, lane_bits[] = {10, 11, 10};

constexpr uint64_t in_lanes(unsigned bit0, unsigned bit1, unsigned bit2) noexcept {
  return uint64_t{1} << (lane_at[0] + bit0) | uint64_t{1} << (lane_at[1] + bit1) |
         uint64_t{1} << (lane_at[2] + bit2);
}

}  // namespace

inline void branches::folded::add(uint64_t fresh, uint64_t old) noexcept {
  value = (value << 1) | static_cast<uint32_t>(fresh);
  value ^= static_cast<uint32_t>(old) << oldest;
  value ^= value >> bits;
  value &= (1U << bits) - 1;
}

inline void branches::lanes::add(uint64_t fresh, uint64_t old) noexcept {
  constexpr uint64_t first = in_lanes(0, 0, 0),
                     over = in_lanes(lane_bits[0], lane_bits[1], lane_bits[2]);
  constexpr uint64_t over10 = over & ~(uint64_t{1} << (lane_at[1] + lane_bits[1])),
                     over11 = over & ~over10;
  value = (value << 1 | (first & (0 - fresh))) ^ (oldest & (0 - old));
  // The bits that were shifted out come in again.
  value ^= (value & over10) >> 10 ^ (value & over11) >> 11;
  value &= over - first;
}

branches::branches() : base_(size_t{1} << base_bits), tagged_(size_t{tables} << table_bits) {
  static_assert(table_bits == lane_bits[0] && tag_bits == lane_bits[1] &&
                tag_bits - 1 == lane_bits[2]);
  for (unsigned t = 0; t < tables; ++t)
    folds_[t].oldest =
        in_lanes(lengths[t] % lane_bits[0], lengths[t] % lane_bits[1], lengths[t] % lane_bits[2]);
  for (unsigned t = 0; t < wide_tables; ++t) {
    wide_[t].resize(size_t{1} << wide_bits);
    to_wide_[t] = {0, 24, wide_lengths[t] % 24};
  }
  wide_base_.resize(size_t{1} << wide_bits);
}

inline void branches::remember(bool outcome) noexcept {
  const uint64_t fresh = outcome ? 1 : 0;
  const auto old = [&](unsigned length) -> uint64_t {
    return history_[(length - 1) / 64] >> ((length - 1) % 64) & 1;
  };
#pragma GCC unroll 6
  for (unsigned t = 0; t < tables; ++t) folds_[t].add(fresh, old(lengths[t]));
#pragma GCC unroll 3
  for (unsigned t = 0; t < wide_tables; ++t) to_wide_[t].add(fresh, old(wide_lengths[t]));
  history_ = {history_[0] << 1 | fresh, history_[1] << 1 | history_[0] >> 63,
              history_[2] << 1 | history_[1] >> 63};
}

bool branches::predict(uint64_t address, bool taken) {
  std::array<direction*, tables> at;
  std::array<uint16_t, tables> tags;
  const uint64_t product = address * factor;
  const auto mixed = static_cast<uint32_t>(product >> 32);
  unsigned found = 0;  // a bit per table
#pragma GCC unroll 6
  for (unsigned t = 0; t < tables; ++t) {
    const lanes& folds = folds_[t];
    const auto own = static_cast<uint32_t>((product + t * factor) >> 32);  // mix(address + t)
    const uint32_t index = (own ^ (own >> table_bits) ^ folds.index()) & ((1U << table_bits) - 1);
    at[t] = &tagged_[(size_t{t} << table_bits) + index];
    tags[t] = static_cast<uint16_t>(((mixed >> 12) ^ folds.tag() ^ (folds.short_tag() << 1)) &
                                    ((1U << tag_bits) - 1));
    found |= static_cast<unsigned>(at[t]->tag == tags[t]) << t;
  }
  // The two with the most history.
  const int longest = static_cast<int>(std::bit_width(found)) - 1;
  const int other = longest < 0 ? -1 : static_cast<int>(std::bit_width(found ^ 1U << longest)) - 1;
  int8_t& base = base_[mixed & ((1U << base_bits) - 1)];
  const bool of_base = base >= 0;
  const bool of_other = other < 0 ? of_base : at[static_cast<size_t>(other)]->counter >= 0;
  bool foreseen = of_base;
  const int change = taken ? 1 : -1;
  if (longest >= 0) {
    direction& d = *at[static_cast<size_t>(longest)];
    // An entry that is new knows less than the one before it.
    const bool is_new = d.useful == 0 && (d.counter == 0 || d.counter == -1);
    const bool of_longest = d.counter >= 0;
    foreseen = is_new ? of_other : of_longest;
    if (of_longest != of_other)
      d.useful = static_cast<uint8_t>(std::clamp(d.useful + (of_longest == taken ? 1 : -1), 0, 3));
    d.counter = static_cast<int8_t>(std::clamp(d.counter + change, -4, 3));
    if (is_new && other < 0) base = static_cast<int8_t>(std::clamp(base + change, -2, 1));
  } else {
    base = static_cast<int8_t>(std::clamp(base + change, -2, 1));
  }
  if (foreseen != taken && longest + 1 < static_cast<int>(tables))
    place(at, tags, static_cast<unsigned>(longest + 1), taken);
  return foreseen == taken;
}

void branches::place(const std::array<direction*, tables>& at,
                     const std::array<uint16_t, tables>& tags, unsigned first,
                     bool taken) noexcept {
  // Now and then not the very next one.
  choice_ = choice_ * 1664525 + 1013904223;
  unsigned t = first;
  if (t + 1 < tables && (choice_ >> 30) == 0) ++t;
  bool placed = false;
  for (; t < tables && !placed; ++t) {
    if (at[t]->useful != 0) continue;
    *at[t] = {tags[t], static_cast<int8_t>(taken ? 0 : -1), 0};
    placed = true;
  }
  if (!placed)
    for (unsigned u = first; u < tables; ++u)
      if (at[u]->useful != 0) --at[u]->useful;
  if (++age_ % (1U << 14) == 0)
    for (direction& d : tagged_) d.useful = static_cast<uint8_t>(d.useful >> 1);
}

bool branches::predict_wide(uint64_t address, uint64_t target) {
  const auto slot = [&](unsigned t) -> target_entry& {
    const uint32_t h = mix(address + t) ^ to_wide_[t].value ^ (to_wide_[t].value >> wide_bits);
    return wide_[t][h & ((1U << wide_bits) - 1)];
  };
  const auto tag = [&](unsigned t) { return address << 24 ^ to_wide_[t].value; };
  target_entry& last = wide_base_[mix(address) & ((1U << wide_bits) - 1)];
  target_entry* found = &last;
  int longest = -1;
  for (unsigned t = 0; t < wide_tables; ++t)
    if (slot(t).tag == tag(t)) {
      longest = static_cast<int>(t);
      found = &slot(t);
    }
  const bool right = found->target == target && (longest >= 0 || last.tag == address);
  if (longest >= 0) {
    if (right) {
      found->sure = static_cast<uint8_t>(std::min(found->sure + 1, 3));
    } else if (found->sure != 0) {
      --found->sure;
    } else {
      found->target = target;
    }
  }
  if (!right && longest + 1 < static_cast<int>(wide_tables)) {
    const auto t = static_cast<unsigned>(longest + 1);
    if (slot(t).sure == 0)
      slot(t) = {tag(t), target, 0};
    else
      --slot(t).sure;
  }
  last = {address, target, 0};
  return right;
}

bool branches::foresees_other(const block_end& end, uint64_t target) {
  bool right = true;
  switch (end.exit) {
    case block_exit::falls:
    case block_exit::jumps: return true;
    case block_exit::branches: {
      const bool taken = target != end.next;
      right = predict(end.address, taken);
      remember(taken);
      return right;
    }
    case block_exit::calls: break;
    case block_exit::jumps_widely:
    case block_exit::calls_widely:
      right = predict_wide(end.address, target);
      remember((mix(target) & 1) != 0);
      remember((mix(target) & 2) != 0);
      break;
    case block_exit::returns:
      returns_next_ = (returns_next_ - 1) % returns_max;
      return returns_[returns_next_] == target;
  }
  if (end.exit != block_exit::jumps_widely) {
    returns_[returns_next_] = end.next;
    returns_next_ = (returns_next_ + 1) % returns_max;
  }
  return right;
}

}  // namespace scute::sim

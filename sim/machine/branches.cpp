// SPDX-License-Identifier: BSD-3-Clause
#include "machine/branches.hpp"

#include <algorithm>

namespace scute::sim {
namespace {

constexpr uint32_t mix(uint64_t address) noexcept {
  return static_cast<uint32_t>((address * 0x9e3779b97f4a7c15) >> 32);
}

}  // namespace

void branches::folded::add(bool fresh, bool old) noexcept {
  value = (value << 1) | static_cast<uint32_t>(fresh);
  value ^= static_cast<uint32_t>(old) << (length % bits);
  value ^= value >> bits;
  value &= (1U << bits) - 1;
}

branches::branches() : base_(size_t{1} << base_bits) {
  for (unsigned t = 0; t < tables; ++t) {
    tagged_[t].resize(size_t{1} << table_bits);
    to_index_[t] = {0, lengths[t], table_bits};
    to_tag_[t] = {0, lengths[t], tag_bits};
    to_tag_short_[t] = {0, lengths[t], tag_bits - 1};
  }
  for (unsigned t = 0; t < wide_tables; ++t) {
    wide_[t].resize(size_t{1} << wide_bits);
    to_wide_[t] = {0, wide_lengths[t], 24};
  }
  wide_base_.resize(size_t{1} << wide_bits);
}

void branches::remember(bool outcome) noexcept {
  const auto old = [&](unsigned length) {
    return history_[(history_next_ - length) % history_max] != 0;
  };
  for (unsigned t = 0; t < tables; ++t) {
    const bool leaves = old(lengths[t]);
    to_index_[t].add(outcome, leaves);
    to_tag_[t].add(outcome, leaves);
    to_tag_short_[t].add(outcome, leaves);
  }
  for (unsigned t = 0; t < wide_tables; ++t) to_wide_[t].add(outcome, old(wide_lengths[t]));
  history_[history_next_++ % history_max] = static_cast<uint8_t>(outcome);
}

uint32_t branches::index_of(uint64_t address, unsigned table) const noexcept {
  const uint32_t a = mix(address + table);
  return (a ^ (a >> table_bits) ^ to_index_[table].value) & ((1U << table_bits) - 1);
}

uint16_t branches::tag_of(uint64_t address, unsigned table) const noexcept {
  const uint32_t a = mix(address) >> 12;
  return static_cast<uint16_t>((a ^ to_tag_[table].value ^ (to_tag_short_[table].value << 1)) &
                               ((1U << tag_bits) - 1));
}

bool branches::predict(uint64_t address, bool taken) {
  std::array<direction*, tables> at{};
  std::array<uint16_t, tables> tags{};
  int longest = -1, other = -1;
  for (unsigned t = 0; t < tables; ++t) {
    at[t] = &tagged_[t][index_of(address, t)];
    tags[t] = tag_of(address, t);
    if (at[t]->tag != tags[t]) continue;
    other = longest;
    longest = static_cast<int>(t);
  }
  int8_t& base = base_[mix(address) & ((1U << base_bits) - 1)];
  const bool of_base = base >= 0;
  const bool of_other = other < 0 ? of_base : at[static_cast<size_t>(other)]->counter >= 0;
  bool foreseen = of_base;
  if (longest >= 0) {
    direction& d = *at[static_cast<size_t>(longest)];
    // An entry that is new knows less than the one before it.
    const bool is_new = d.useful == 0 && (d.counter == 0 || d.counter == -1);
    const bool of_longest = d.counter >= 0;
    foreseen = is_new ? of_other : of_longest;
    if (of_longest != of_other) {
      if (of_longest == taken)
        d.useful = static_cast<uint8_t>(std::min(d.useful + 1, 3));
      else if (d.useful != 0)
        --d.useful;
    }
    d.counter = static_cast<int8_t>(std::clamp(d.counter + (taken ? 1 : -1), -4, 3));
    if (is_new && other < 0) base = static_cast<int8_t>(std::clamp(base + (taken ? 1 : -1), -2, 1));
  } else {
    base = static_cast<int8_t>(std::clamp(base + (taken ? 1 : -1), -2, 1));
  }
  if (foreseen != taken && longest + 1 < static_cast<int>(tables)) {
    // A place with more history, now and then not the very next one.
    choice_ = choice_ * 1664525 + 1013904223;
    auto t = static_cast<unsigned>(longest + 1);
    if (t + 1 < tables && (choice_ >> 30) == 0) ++t;
    bool placed = false;
    for (; t < tables && !placed; ++t) {
      if (at[t]->useful != 0) continue;
      *at[t] = {tags[t], static_cast<int8_t>(taken ? 0 : -1), 0};
      placed = true;
    }
    if (!placed)
      for (unsigned u = static_cast<unsigned>(longest + 1); u < tables; ++u)
        if (at[u]->useful != 0) --at[u]->useful;
    if (++age_ % (1U << 14) == 0)
      for (auto& table : tagged_)
        for (direction& d : table) d.useful = static_cast<uint8_t>(d.useful >> 1);
  }
  return foreseen == taken;
}

bool branches::predict_wide(uint64_t address, uint64_t target) {
  const auto place = [&](unsigned t) -> target_entry& {
    const uint32_t h = mix(address + t) ^ to_wide_[t].value ^ (to_wide_[t].value >> wide_bits);
    return wide_[t][h & ((1U << wide_bits) - 1)];
  };
  const auto tag = [&](unsigned t) { return address << 24 ^ to_wide_[t].value; };
  target_entry& last = wide_base_[mix(address) & ((1U << wide_bits) - 1)];
  target_entry* found = &last;
  int longest = -1;
  for (unsigned t = 0; t < wide_tables; ++t)
    if (place(t).tag == tag(t)) {
      longest = static_cast<int>(t);
      found = &place(t);
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
    if (place(t).sure == 0)
      place(t) = {tag(t), target, 0};
    else
      --place(t).sure;
  }
  last = {address, target, 0};
  return right;
}

bool branches::foresees(const block_end& end, uint64_t target) {
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

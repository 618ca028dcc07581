// SPDX-License-Identifier: BSD-3-Clause
// The rows of TATP's four tables, and what a population puts into them.
//
// A subscriber's row leads to its rows in the other tables, so that a key of those, which begins
// with the subscriber in every table, is an index of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "workloads/dice.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::tatp {

template <store S>
struct rows {
  template <class T>
  using ptr = typename S::template ptr<T>;

  struct access_info {
    uint32_t subscriber;
    uint8_t type, data1, data2;
    char data3[3], data4[5];
  };
  struct call_forwarding {
    uint32_t subscriber;
    uint8_t type, start_time, end_time;
    char number[15];
  };
  struct special_facility {
    uint32_t subscriber;
    uint8_t type, is_active, error_control, data_a;
    char data_b[5];
    ptr<call_forwarding> forwarding[3];  // by start_time / 8
  };
  // 128 bytes, as in ENTS.
  struct subscriber {
    uint32_t id;
    uint32_t msc_location, vlr_location;
    uint8_t bit[10], hex[10], byte2[10];
    char number[15];
    ptr<access_info> access[4];         // by type - 1
    ptr<special_facility> facility[4];  // by type - 1
  };
  static_assert(sizeof(subscriber) == 128 || sizeof(ptr<access_info>) != 8);
};

// A number as text of 15 digits: what a subscriber is dialled by.
inline void write_number(char (&to)[15], uint64_t n) {
  for (unsigned i = 15; i-- > 0; n /= 10) to[i] = static_cast<char>('0' + n % 10);
}
inline uint64_t read_number(const char (&from)[15]) {
  uint64_t n = 0;
  for (const char c : from) n = n * 10 + static_cast<uint64_t>(c - '0');
  return n;
}

template <size_t N>
void write_letters(char (&to)[N], dice& d) {
  for (char& c : to) c = static_cast<char>('A' + d.below(26));
}

// Which of the four types a subscriber has: 1 to 4 of them, each choice as likely.
inline std::array<bool, 4> draw_types(dice& d) {
  std::array<uint8_t, 4> order{0, 1, 2, 3};
  for (size_t i = 4; i > 1; --i) std::swap(order[i - 1], order[d.below(i)]);
  std::array<bool, 4> has{};
  for (uint64_t n = d.between(1, 4); n > 0; --n) has[order[n - 1]] = true;
  return has;
}
// Which of the three start times a facility forwards calls from: 0 to 3 of them.
inline std::array<bool, 3> draw_times(dice& d) {
  std::array<uint8_t, 3> order{0, 1, 2};
  for (size_t i = 3; i > 1; --i) std::swap(order[i - 1], order[d.below(i)]);
  std::array<bool, 3> has{};
  for (uint64_t n = d.below(4); n > 0; --n) has[order[n - 1]] = true;
  return has;
}

}  // namespace scute::workloads::tatp

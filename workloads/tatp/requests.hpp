// SPDX-License-Identifier: BSD-3-Clause
// The transactions of TATP (Telecom Application Transaction Processing Benchmark, description 1.0)
// and how they are drawn.
//
//   the whole mix             35 % get_subscriber, 10 % get_destination, 35 % get_access,
//                             2 % update_subscriber, 14 % update_location, 2 % insert_forwarding,
//                             2 % delete_forwarding; subscribers non-uniform
//   location                  update_location alone, uniform
//   location_of_one           update_location of subscriber 1 alone. It is what ENTS ran: the
//                             published code divides the random number by the number of
//                             subscribers, where it should take the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/dice.hpp"

namespace scute::workloads::tatp {

enum class kind : uint8_t {
  get_subscriber,
  get_destination,
  get_access,
  update_subscriber,
  update_location,
  insert_forwarding,
  delete_forwarding,
};
constexpr unsigned kinds = 7;

enum class mix : uint8_t { whole, location, location_of_one };

struct request {
  kind what;
  uint8_t type;         // of an access_info or a special_facility, 1 to 4
  uint8_t start_time;   // 0, 8 or 16
  uint8_t end_time;     // 1 to 24
  uint32_t subscriber;  // from 1 on
  uint32_t word;        // the new value: a location, a bit, data_a, the number that is forwarded to
};

// Non-uniform, as the description has it: NURand over 1 to n with a constant that follows from n.
inline uint32_t draw_subscriber(dice& d, uint32_t n) {
  const uint64_t a = n <= 1'000'000 ? 65535 : n <= 10'000'000 ? 1048575 : 2097151;
  return static_cast<uint32_t>((d.between(0, a) | d.between(1, n)) % n + 1);
}

inline kind draw_kind(dice& d) {
  const uint64_t p = d.below(100);
  if (p < 35) return kind::get_subscriber;
  if (p < 45) return kind::get_destination;
  if (p < 80) return kind::get_access;
  if (p < 82) return kind::update_subscriber;
  if (p < 96) return kind::update_location;
  return p < 98 ? kind::insert_forwarding : kind::delete_forwarding;
}

inline request draw(dice& d, mix m, uint32_t subscribers) {
  request r{};
  r.what = m == mix::whole ? draw_kind(d) : kind::update_location;
  r.subscriber = m == mix::whole      ? draw_subscriber(d, subscribers)
                 : m == mix::location ? static_cast<uint32_t>(d.between(1, subscribers))
                                      : 1;
  r.type = static_cast<uint8_t>(d.between(1, 4));
  r.start_time = static_cast<uint8_t>(8 * d.below(3));
  r.end_time = static_cast<uint8_t>(d.between(1, 24));
  r.word = static_cast<uint32_t>(d.next());
  return r;
}

inline std::vector<request> draw_all(dice& d, mix m, uint32_t subscribers, size_t n) {
  std::vector<request> all;
  all.reserve(n);
  for (size_t i = 0; i < n; ++i) all.push_back(draw(d, m, subscribers));
  return all;
}

}  // namespace scute::workloads::tatp

// SPDX-License-Identifier: BSD-3-Clause
// The bytes of persistent memory, for crash tests: as the cores see them, and when which bytes of a
// line became durable. Timing runs do without.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "machine/ticks.hpp"

namespace scute::sim {

using line_bytes_of = std::array<uint64_t, 8>;
using image = std::map<uint64_t, line_bytes_of>;  // lines that were ever stored to

class contents {
 public:
  // The cores see the word from now on.
  void store(uint64_t address, uint64_t word) { at(line_of(address))[address / 8 % 8] = word; }
  const line_bytes_of& line(uint64_t number) { return at(number); }

  // The line, as it is now, will be durable at that time.
  void write(uint64_t number, ticks durable) { writes_.push_back({durable, number, at(number)}); }
  void write(uint64_t number, const line_bytes_of& bytes, ticks durable) {
    writes_.push_back({durable, number, bytes});
  }

  // The content of the memory after a power failure at that time.
  image durable_at(ticks t) const {
    std::vector<const change*> in_time;
    for (const change& c : writes_)
      if (c.durable <= t) in_time.push_back(&c);
    std::ranges::stable_sort(in_time, {}, &change::durable);
    image all;
    if (initial)
      for (const auto& [number, bytes] : view_) all[number] = initial(number);
    for (const change* c : in_time) all[c->number] = c->bytes;
    return all;
  }
  // All times at which something became durable.
  std::vector<ticks> moments() const {
    std::vector<ticks> all;
    for (const change& c : writes_) all.push_back(c.durable);
    return all;
  }

  // The durable content of a line before the first store; zeros if there is no such function.
  std::function<line_bytes_of(uint64_t)> initial;

 private:
  line_bytes_of& at(uint64_t number) {
    const auto [place, is_new] = view_.try_emplace(number);
    if (is_new && initial) place->second = initial(number);
    return place->second;
  }

  struct change {
    ticks durable;
    uint64_t number;
    line_bytes_of bytes;
  };
  std::unordered_map<uint64_t, line_bytes_of> view_;
  std::vector<change> writes_;
};

}  // namespace scute::sim

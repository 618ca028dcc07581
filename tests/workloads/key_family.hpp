// SPDX-License-Identifier: BSD-3-Clause
// Keys to choose from in random tests: so few that they meet again, and of shapes that trees part
// by in different ways.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/seed.hpp"

namespace scute::test {

using key_list = std::vector<uint64_t>;

inline key_list dense_keys(uint64_t n) {
  key_list keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = i;
  return keys;
}

inline key_list random_keys(random_source& random, uint64_t n) {
  key_list keys(n);
  for (uint64_t& k : keys) k = random.word();
  return keys;
}

// The ends of the range, single bits and runs of them, and long common beginnings that part at
// every bit.
inline key_list awkward_keys(random_source& random, uint64_t n) {
  key_list keys{0, ~uint64_t{0}};
  const uint64_t beginning = random.word();
  for (unsigned bit = 0; bit < 64; ++bit) {
    const uint64_t one = uint64_t{1} << bit;
    for (const uint64_t k :
         {one, one - 1, ~one, ~(one - 1), beginning ^ one, beginning ^ (one - 1)})
      keys.push_back(k);
  }
  while (keys.size() < n)
    keys.push_back((beginning & ~uint64_t{0xffff}) | (random.word() & 0x8421));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace scute::test

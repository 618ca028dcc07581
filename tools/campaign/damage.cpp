// SPDX-License-Identifier: BSD-3-Clause
#include "damage.hpp"

#include "dice.hpp"

#include <cmath>

namespace scute_campaign {

using namespace scute_tools;

std::vector<error> draw_errors(uint64_t file_size, uint32_t bits, double rate, uint64_t seed) {
  std::vector<error> errors;
  dice random(seed);
  const uint32_t width = bits / 8;
  const double scale = 1 / std::log1p(-rate);
  for (uint64_t bit = 0, end = file_size * 8; bit < end; ++bit) {
    const double gap = std::floor(std::log(random.unit()) * scale);
    if (gap >= static_cast<double>(end - bit)) break;
    bit += static_cast<uint64_t>(gap);
    const uint64_t offset = bit / 8;
    if (width == 0) {
      errors.push_back({offset, 1, std::byte{1} << (bit % 8)});
    } else if (const uint64_t word = offset / width * width;
               errors.empty() || errors.back().offset != word) {
      errors.push_back({word, width, std::byte{0xff}});
    }
  }
  return errors;
}

void inflict(std::byte* file, const std::vector<error>& errors) noexcept {
  for (const error& e : errors)
    for (uint32_t i = 0; i < e.length; ++i) file[e.offset + i] ^= e.ones;
}

}  // namespace scute_campaign

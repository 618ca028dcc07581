// SPDX-License-Identifier: BSD-3-Clause
// damage.hpp: errors at a rate over a whole file at rest
// (Pavise, section 6.2.2): every bit begins an error with that probability; an error inverts the
// aligned word of its size that the bit is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scute_campaign {

struct error {
  uint64_t offset;
  uint32_t length;  // bytes
  std::byte ones;   // inverted bits of each of them
};

// In ascending order, none twice.
std::vector<error> draw_errors(uint64_t file_size, uint32_t bits, double rate, uint64_t seed);

void inflict(std::byte* file, const std::vector<error>& errors) noexcept;

}  // namespace scute_campaign

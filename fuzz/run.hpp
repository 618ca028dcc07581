// SPDX-License-Identifier: BSD-3-Clause
// Runs one input from its bytes to its verdict. Returns, or ends the process.
#pragma once

#include <cstdint>
#include <span>

namespace scute::fuzz {

void run(std::span<const uint8_t> input);

// What an input may be made to do besides, to see that it is noticed.
enum class plant : uint8_t {
  nothing,
  lie,    // an object changes, and its checksum with it
  crash,  // a store beyond the mapping
  hang,
};
inline plant planted = plant::nothing;

}  // namespace scute::fuzz

// SPDX-License-Identifier: BSD-3-Clause
// Runs one input from its bytes. Returns, or ends the process.
#pragma once

#include <cstdint>
#include <span>

namespace scute::fuzz {

void run(std::span<const uint8_t> input);

// A fault planted in the run of an input, to test that the checked notices it.
enum class plant : uint8_t {
  nothing,
  lie,    // an object changes, and its checksum with it
  crash,  // a store beyond the mapping
  hang,
};
inline plant planted = plant::nothing;

}  // namespace scute::fuzz

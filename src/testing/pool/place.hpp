// SPDX-License-Identifier: BSD-3-Clause
// Names for places of a pool file, for stories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace scute::testing {

// Such as "lane 1, replica 0, log +128" or "chunk 3 +64". "offset N" if the image is of no pool.
std::string place_of(std::span<const std::byte> image, uint64_t offset);

}  // namespace scute::testing

// SPDX-License-Identifier: BSD-3-Clause
// Where things lie in a pool image. On the core's side of the folder (see simulated_memory.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/layout/geometry.hpp"

namespace scute::testing {
using namespace core;

// The newest valid copy.
std::optional<format::superblock> superblock_of(std::span<const std::byte> image);
// The geometry by a valid superblock of the image, if there is one.
std::optional<pool::geometry> geometry_of(std::span<const std::byte> image);

}  // namespace scute::testing

// SPDX-License-Identifier: BSD-3-Clause
// Damage that a pool must survive, on top of a crash: to one of several replicas before recovery,
// or to one page once recovery is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace scute::testing {

struct injury {
  uint64_t offset = 0;
  std::vector<std::byte> bytes;  // what lies there now
  std::string text;
};

// A copy of the superblock, or one replica of a lane (the same replica, whatever the number, for a
// given number of lanes: one fault, not several). Nothing if the image is not of a pool.
injury injure_replica(std::span<const std::byte> image, uint64_t number);

// A page, or part of one, of a zone's data or parity, of a lane, or of a superblock.
injury injure_page(std::span<const std::byte> image, uint64_t number);

}  // namespace scute::testing

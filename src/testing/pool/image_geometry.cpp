// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/image_geometry.hpp"

#include <cstring>

#include "base/failure.hpp"
#include "core/shared/pool/superblock.hpp"

namespace scute::testing {
using namespace core;

std::optional<format::superblock> superblock_of(std::span<const std::byte> image) {
  std::optional<format::superblock> newest;
  for (const uint64_t offset : {uint64_t{0}, format::page, image.size() - format::page}) {
    if (offset + sizeof(format::superblock) > image.size()) continue;
    format::superblock sb;
    std::memcpy(&sb, image.data() + offset, sizeof sb);
    if (std::memcmp(sb.magic, format::magic, sizeof sb.magic) != 0 ||
        sb.checksum != pool::superblock_checksum(sb))
      continue;
    if (!newest || sb.sequence > newest->sequence) newest = sb;
  }
  return newest;
}

std::optional<pool::geometry> geometry_of(std::span<const std::byte> image) {
  const auto sb = superblock_of(image);
  if (!sb) return std::nullopt;
  try {
    return pool::read_geometry(*sb);
  } catch (const failure&) {
    return std::nullopt;
  }
}

}  // namespace scute::testing

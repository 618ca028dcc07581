// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/image_geometry.hpp"

#include <cstring>

#include "base/failure.hpp"
#include "pool/superblock.hpp"

namespace scute::testing {
using namespace core;

std::optional<pool::geometry> geometry_of(std::span<const std::byte> image) {
  const auto at = [&](uint64_t offset) -> std::optional<pool::geometry> {
    if (offset + sizeof(format::superblock) > image.size()) return std::nullopt;
    format::superblock sb;
    std::memcpy(&sb, image.data() + offset, sizeof sb);
    if (std::memcmp(sb.magic, format::magic, sizeof sb.magic) != 0 ||
        sb.checksum != pool::superblock_checksum(sb))
      return std::nullopt;
    try {
      return pool::read_geometry(sb);
    } catch (const failure&) {
      return std::nullopt;
    }
  };
  for (const uint64_t offset : {uint64_t{0}, format::page, image.size() - format::page})
    if (auto g = at(offset)) return g;
  return std::nullopt;
}

}  // namespace scute::testing

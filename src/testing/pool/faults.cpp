// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/faults.hpp"

#include <cstring>
#include <random>
#include <vector>

#include "base/rounding.hpp"
#include "testing/pool/image_geometry.hpp"

namespace scute::testing {
using namespace core;
namespace {

// Scrambles the whole range, one bit of it, or one line of it.
injury scramble(std::span<const std::byte> image, uint64_t offset, uint64_t length,
                std::mt19937_64& random, std::string text) {
  switch (random() % 3) {
    case 0: break;
    case 1:
      offset += round_down(random() % length, 64);
      length = 64;
      text += ", one line of it";
      break;
    default:
      offset += random() % length;
      return {offset,
              {image[offset] ^ static_cast<std::byte>(1u << random() % 8)},
              text + ", one bit of it"};
  }
  injury i{offset, std::vector<std::byte>(length), std::move(text)};
  for (auto& b : i.bytes) b = static_cast<std::byte>(random());
  return i;
}

// The chunks of an engine's log, as the newest list in lane 0 names them; with two copies, one
// after the other. None if the pool has another engine by now: then the list still exists, but its
// chunks have other owners.
std::vector<uint64_t> log_chunks(std::span<const std::byte> image, const pool::geometry& g) {
  const auto sb = superblock_of(image);
  if (!sb || sb->engine != SCUTE_ENGINE_SPEC || (sb->incompat & format::incompat_log_file) != 0)
    return {};
  const uint64_t place =
      round_down((format::lane_undo_offset(g.lane_size) - format::lane_log_offset) / 2, 64);
  std::vector<uint64_t> chunks;
  uint64_t number = 0;
  for (uint32_t r = 0; r < g.lane_replicas; ++r)
    for (uint64_t which = 0; which < 2; ++which) {
      const uint64_t at = g.lane_offset(0, r) + format::lane_log_offset + which * place;
      format::segment_list_head h;
      std::memcpy(&h, &image[at], sizeof h);
      if (h.magic != format::segment_list_magic || h.number <= number ||
          h.chunks > (place - sizeof h) / sizeof(uint64_t))
        continue;
      number = h.number;
      chunks.resize(h.chunks);
      if (h.chunks != 0)
        std::memcpy(chunks.data(), &image[at + sizeof h], h.chunks * sizeof(uint64_t));
    }
  std::erase_if(chunks, [&](uint64_t c) { return !g.in_data(c, g.chunk_size); });
  return chunks;
}

}  // namespace

injury injure_replica(std::span<const std::byte> image, uint64_t number) {
  const auto found = geometry_of(image);
  if (!found) return {};
  const pool::geometry& g = *found;
  std::mt19937_64 random(number);
  if (const auto chunks = log_chunks(image, g);
      g.lane_replicas > 1 && !chunks.empty() && random() % 4 != 0) {
    const uint64_t page = random() % (g.chunk_size / format::page) * format::page;
    const uint64_t at = chunks[random() % chunks.size()] + page;
    return scramble(image, at, format::page, random, "log page at " + std::to_string(at));
  }
  if (g.lane_replicas > 1 && random() % 4 != 0) {
    const auto lane = static_cast<uint32_t>(random() % g.lane_count);
    const auto replica = static_cast<uint32_t>(random() % g.lane_replicas);
    return scramble(image, g.lane_offset(lane, replica), g.lane_size, random,
                    "replica " + std::to_string(replica) + " of lane " + std::to_string(lane));
  }
  const auto copy = static_cast<unsigned>(random() % 3);
  return scramble(image, g.superblock_offset(copy), sizeof(format::superblock), random,
                  "superblock copy " + std::to_string(copy));
}

injury injure_page(std::span<const std::byte> image, uint64_t number) {
  const auto found = geometry_of(image);
  if (!found) return {};
  const pool::geometry& g = *found;
  std::mt19937_64 random(number);
  const uint64_t pages = (g.zones_end() - g.zones_offset) / format::page;
  const uint64_t at = g.zones_offset + random() % pages * format::page;
  return scramble(image, at, format::page, random, "page at " + std::to_string(at));
}

}  // namespace scute::testing

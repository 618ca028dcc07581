// SPDX-License-Identifier: BSD-3-Clause
// The pools that inputs change, made in memory when the program starts, always the same bytes: of
// every protection level an empty pool, one with objects and containers, and three that need
// recovery; then the same of engine logfree, with four; then of engine spec, at two levels, with
// three; then these three of a pool whose log has tracks. With each image go the places of its
// structures and what its objects hold.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/shared/fragment.hpp"
#include "core/shared/state.hpp"
#include "ram_medium.hpp"

namespace scute::fuzz {
using namespace core;

// A structure whose length is known, and the bytes that can follow it in its area.
struct structure {
  uint64_t begin = 0;
  uint64_t length = 0;
  uint64_t room = 0;
};

// Of a frame, or a head, of a log in segments: where its second copy is (0: nowhere), its line in
// the segment, and what its checksum begins with. In tracks a frame has such a place for each of
// its lines.
struct frame_location {
  uint64_t second, position;
  uint32_t seed;
  uint64_t segment = 0;  // where it begins; of tracks only
};

struct base_image {
  std::string name;
  bytes content;
  bool clean = true;
  // Object bytes have checksums that no accident satisfies: mlpc with CRC-32C.
  bool is_checked = false;

  // For sealing: geometry, salt, epoch and checksum kind of the unchanged image; no medium.
  std::unique_ptr<pool::state> s;

  std::vector<structure> superblocks, statuses, ring, undo, links, zones, anchors, chunk_headers,
      chunks;
  std::vector<pool::fragment> headers, parts;  // first and further ones, live or free
  std::map<uint64_t, bytes> objects;           // by oid, after recovery
  uint64_t root = 0;                           // oid; 0: none
  std::set<uint64_t> open_pages;               // numbers of pages with a column open to a crash
  std::map<uint64_t, frame_location> frame_locations;  // engine spec: by offset of the first copy
  uint64_t track_segment = 0;                          // bytes of a segment in tracks
  std::set<uint64_t> log_pages;                        // numbers of pages of such a log
  std::vector<uint64_t> boundaries;                    // values near which decisions change
};

// Made at the first call; the order is part of the inputs' meaning.
const std::vector<base_image>& base_images();

inline constexpr uint32_t type_plain = 7;

}  // namespace scute::fuzz

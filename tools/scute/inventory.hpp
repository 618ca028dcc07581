// SPDX-License-Identifier: BSD-3-Clause
// inventory.hpp: what is in an open pool: its chunks, its objects, its regions.
#pragma once

#include "open_pool.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scute_tool {

std::vector<scute_chunk_info> list_chunks(const open_pool& pool);

struct object_entry {
  scute_oid oid;
  uint64_t size;
  uint64_t usable;
  uint32_t type;
};

// In address order. Where damage beyond repair hides objects, all others are visited, and then a
// failure gives the number of the hidden ones.
void visit_objects(const open_pool& pool, uint32_t type,
                   const std::function<void(const object_entry&)>& visit);

// The root object's oid, or SCUTE_OID_NULL.
scute_oid root_of(const open_pool& pool);

// Adjoining pages of one region in one row.
struct region_extent {
  scute_region region;
  uint64_t offset;
  uint64_t length;
  uint64_t zone, row, replica;
};
std::vector<region_extent> list_regions(const open_pool& pool);

// A type as the user writes it: a number (7, 0x1f), or the name that a C++ program gave it.
// Throws failure.
uint32_t parse_type(const std::string& text);

}  // namespace scute_tool

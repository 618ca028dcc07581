// SPDX-License-Identifier: BSD-3-Clause
#include "inventory.hpp"

#include "failure.hpp"

#include <scute/type_number.hpp>

#include <charconv>

namespace scute_tool {

std::vector<scute_chunk_info> list_chunks(const open_pool& pool) {
  std::vector<scute_chunk_info> chunks;
  const auto visit = [](void* arg, const scute_chunk_info* chunk) {
    static_cast<std::vector<scute_chunk_info>*>(arg)->push_back(*chunk);
    return 0;
  };
  check(scute_visit_chunks(pool, visit, &chunks), pool.path());
  return chunks;
}

void visit_objects(const open_pool& pool, uint32_t type,
                   const std::function<void(const object_entry&)>& visit) {
  scute_oid oid = SCUTE_OID_NULL;
  check(scute_first(pool, type, &oid), pool.path());
  while (oid != SCUTE_OID_NULL) {
    object_entry entry{.oid = oid, .size = 0, .usable = 0, .type = 0};
    check(scute_object_info(pool, oid, &entry.size, &entry.usable, &entry.type), pool.path());
    visit(entry);
    check(scute_next(pool, oid, type, &oid), pool.path());
  }
}

scute_oid root_of(const open_pool& pool) {
  scute_oid root = SCUTE_OID_NULL;
  const int result = scute_root(pool, 0, 0, &root);
  if (result == SCUTE_E_NOENT) return SCUTE_OID_NULL;
  check(result, pool.path());
  return root;
}

std::vector<region_extent> list_regions(const open_pool& pool) {
  constexpr uint64_t page = 4096, superblock = 512;
  const uint64_t size = pool.info().size;
  std::vector<region_extent> extents;
  for (uint64_t offset = 0; offset < size;) {
    scute_location at{};
    at.struct_size = sizeof at;
    check(scute_locate(pool, offset, &at), pool.path());
    // The regions of these pages alone are smaller than a page.
    const uint64_t length = at.region == SCUTE_REGION_SUPERBLOCK ? superblock
                            : at.region == SCUTE_REGION_NOTES    ? page - superblock
                                                                 : page;
    const uint64_t from = offset;
    offset += length;
    if (!extents.empty()) {
      region_extent& last = extents.back();
      if (last.region == at.region && last.zone == at.zone && last.row == at.row &&
          last.replica == at.replica) {
        last.length += length;
        continue;
      }
    }
    extents.push_back({at.region, from, length, at.zone, at.row, at.replica});
  }
  return extents;
}

uint32_t parse_type(const std::string& text) {
  const bool hex = text.starts_with("0x");
  const char* first = text.data() + (hex ? 2 : 0);
  const char* last = text.data() + text.size();
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(first, last, number, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range)
    throw failure(exit_error, "--type " + text, "a type number has at most 32 bits");
  return error == std::errc{} && end == last ? number : scute::type_hash(text);
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
#include "dump_view.hpp"

#include "failure.hpp"
#include "inventory.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

namespace scute_tool {

namespace {

// Geometry as name and value, in the order of the output.
json pool_json(const open_pool& pool, bool stable) {
  const scute_info info = pool.info();
  json facts;
  if (!stable) {
    facts["uuid"] = uuid_text(info.uuid);
    facts["tag"] = info.tag;
    facts["medium"] = name_of(info.medium);
  }
  facts["version"] = info.version;
  facts["layout"] = info.layout;
  facts["size"] = info.size;
  facts["engine"] = name_of(info.engine);
  facts["protection"] = name_of(info.protection);
  facts["checksum"] = name_of(info.checksum);
  facts["rows"] = info.rows;
  facts["parity"] = info.parity;
  facts["row_size"] = info.row_size;
  facts["zone_size"] = info.zone_size;
  facts["zone_count"] = info.zone_count;
  facts["chunk_size"] = info.chunk_size;
  facts["chunk_count"] = info.chunk_count;
  facts["chunks_free"] = info.chunks_free;
  facts["lanes"] = info.lanes;
  facts["lane_size"] = info.lane_size;
  facts["epoch"] = info.epoch;
  facts["clean"] = info.clean != 0;
  const scute_oid root = root_of(pool);
  facts["root"] = root == SCUTE_OID_NULL ? json() : json(offset_of(root));
  return facts;
}

// The object's bytes, or null with the reason in `why`.
const unsigned char* bytes_of(const open_pool& pool, const object_entry& object, std::string& why) {
  const void* bytes = nullptr;
  if (scute_get_verified(pool, object.oid, &bytes) < 0) {
    why = scute_errormsg();
    return nullptr;
  }
  return static_cast<const unsigned char*>(bytes);
}

void print_pool(const open_pool& pool, bool stable) {
  fmt::print("pool\n");
  const json facts = pool_json(pool, stable);
  for (const auto& [name, value] : facts.items()) {
    fmt::print("  {:<12} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void print_regions(const open_pool& pool) {
  table regions(
      {{"offset"}, {"length", true}, {"region"}, {"zone", true}, {"row", true}, {"replica", true}});
  for (const region_extent& e : list_regions(pool)) {
    regions.add({fmt::format("{:#014x}", e.offset), fmt::format("{}", e.length), name_of(e.region),
                 fmt::format("{}", e.zone), fmt::format("{}", e.row),
                 fmt::format("{}", e.replica)});
  }
  fmt::print("regions\n");
  regions.print("  ");
}

void print_chunks(const open_pool& pool) {
  table chunks({{"offset"},
                {"zone", true},
                {"chunk", true},
                {"kind"},
                {"slot", true},
                {"slots", true},
                {"formatted", true},
                {"used", true},
                {"length", true},
                {"generation", true}});
  for (const scute_chunk_info& c : list_chunks(pool)) {
    const bool run = std::strcmp(c.kind, "run") == 0;
    const auto of_run = [&](uint64_t value) { return run ? fmt::format("{}", value) : "-"; };
    chunks.add({fmt::format("{:#014x}", c.offset), fmt::format("{}", c.zone),
                fmt::format("{}", c.chunk), c.kind, of_run(c.slot_size), of_run(c.slots),
                of_run(c.formatted), of_run(c.used),
                std::strcmp(c.kind, "span") == 0 ? fmt::format("{}", c.length) : "-",
                fmt::format("{}", c.generation)});
  }
  fmt::print("chunks\n");
  chunks.print("  ");
}

void print_objects(const open_pool& pool, const dump_contents& contents) {
  fmt::print("objects\n  {:<14}  {:<10}  {:>10}  {:>10}\n", "offset", "type", "size", "usable");
  visit_objects(pool, contents.type, [&](const object_entry& o) {
    fmt::print("  {:#014x}  {:#010x}  {:>10}  {:>10}\n", offset_of(o.oid), o.type, o.size,
               o.usable);
    if (!contents.hex) return;
    std::string why;
    if (const unsigned char* bytes = bytes_of(pool, o, why))
      print_hex(bytes, o.size, "    ");
    else
      fmt::print("    cannot read: {}\n", why);
  });
}

json regions_json(const open_pool& pool) {
  json list = json::array();
  for (const region_extent& e : list_regions(pool)) {
    list.push_back({{"offset", e.offset},
                    {"length", e.length},
                    {"region", name_of(e.region)},
                    {"zone", e.zone},
                    {"row", e.row},
                    {"replica", e.replica}});
  }
  return list;
}

json chunks_json(const open_pool& pool) {
  json list = json::array();
  for (const scute_chunk_info& c : list_chunks(pool)) {
    list.push_back({{"offset", c.offset},
                    {"zone", c.zone},
                    {"chunk", c.chunk},
                    {"kind", c.kind},
                    {"slot_size", c.slot_size},
                    {"slots", c.slots},
                    {"formatted", c.formatted},
                    {"used", c.used},
                    {"length", c.length},
                    {"generation", c.generation}});
  }
  return list;
}

std::string hex_digits(const unsigned char* bytes, uint64_t length) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(length * 2);
  for (uint64_t i = 0; i < length; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

void list_objects(const open_pool& pool, const dump_contents& contents, json& list) {
  visit_objects(pool, contents.type, [&](const object_entry& o) {
    json entry{
        {"offset", offset_of(o.oid)}, {"type", o.type}, {"size", o.size}, {"usable", o.usable}};
    if (contents.hex) {
      std::string why;
      if (const unsigned char* bytes = bytes_of(pool, o, why))
        entry["hex"] = hex_digits(bytes, o.size);
      else
        entry["error"] = why;
    }
    list.push_back(std::move(entry));
  });
}

}  // namespace

void dump_as_text(const open_pool& pool, const dump_contents& contents) {
  if (contents.pool) print_pool(pool, contents.stable);
  if (contents.regions) print_regions(pool);
  if (contents.chunks) print_chunks(pool);
  if (contents.objects) print_objects(pool, contents);
}

void dump_as_json(const open_pool& pool, const dump_contents& contents) {
  json document = json::object();
  if (contents.pool) document["pool"] = pool_json(pool, contents.stable);
  if (contents.regions) document["regions"] = regions_json(pool);
  if (contents.chunks) document["chunks"] = chunks_json(pool);
  if (contents.objects) {
    json& list = document["objects"] = json::array();
    try {
      list_objects(pool, contents, list);
    } catch (const failure&) {  // all readable objects, before the report that there are more
      print_json(document);
      throw;
    }
  }
  print_json(document);
}

}  // namespace scute_tool

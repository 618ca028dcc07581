// SPDX-License-Identifier: BSD-3-Clause
// stats.cpp: scute stats PATH: where the space goes.
#include "command.hpp"
#include "failure.hpp"
#include "inventory.hpp"
#include "options.hpp"
#include "output.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>

namespace scute_tool {

namespace {

struct stats_arguments {
  std::string path;
  pool_options options;
  bool json = false;
};

struct type_use {
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t smallest = UINT64_MAX;
  uint64_t largest = 0;
};

struct slot_class_use {
  uint64_t chunks = 0;
  uint64_t slots = 0;
  uint64_t used = 0;
};

struct space_use {
  std::map<uint32_t, type_use> types;
  std::map<uint64_t, uint64_t> sizes;  // size rounded up to a power of two: objects
  std::map<uint64_t, slot_class_use> slot_classes;
  uint64_t objects = 0;
  uint64_t object_bytes = 0;
  uint64_t spans = 0;
  uint64_t span_chunks = 0;
  uint64_t log_chunks = 0;
  uint64_t free_slot_bytes = 0;
};

void count_objects(const open_pool& pool, space_use& use) {
  visit_objects(pool, SCUTE_TYPE_ANY, [&](const object_entry& o) {
    type_use& type = use.types[o.type];
    ++type.objects;
    type.bytes += o.size;
    type.smallest = std::min(type.smallest, o.size);
    type.largest = std::max(type.largest, o.size);
    ++use.sizes[std::bit_ceil(o.size)];
    ++use.objects;
    use.object_bytes += o.size;
  });
}

void count_chunks(const open_pool& pool, space_use& use) {
  for (const scute_chunk_info& c : list_chunks(pool)) {
    if (std::strcmp(c.kind, "run") == 0) {
      slot_class_use& slots = use.slot_classes[c.slot_size];
      ++slots.chunks;
      slots.slots += c.slots;
      slots.used += c.used;
      use.free_slot_bytes += (c.slots - c.used) * c.slot_size;
    } else if (std::strcmp(c.kind, "span") == 0) {
      ++use.spans;
      use.span_chunks += c.length;
    } else if (std::strcmp(c.kind, "log") == 0) {
      ++use.log_chunks;
    }
  }
}

struct counter_text {
  const char* name;
  uint64_t scute_counters::* field;
};

constexpr std::array counter_table{
    counter_text{"transactions", &scute_counters::transactions},
    counter_text{"aborts", &scute_counters::aborts},
    counter_text{"fences", &scute_counters::fences},
    counter_text{"lines", &scute_counters::lines},
    counter_text{"bytes_data", &scute_counters::bytes_data},
    counter_text{"bytes_parity", &scute_counters::bytes_parity},
    counter_text{"bytes_log", &scute_counters::bytes_log},
    counter_text{"bytes_metadata", &scute_counters::bytes_metadata},
    counter_text{"allocs", &scute_counters::allocs},
    counter_text{"frees", &scute_counters::frees},
    counter_text{"lock_waits", &scute_counters::lock_waits},
    counter_text{"peer_invalidations", &scute_counters::peer_invalidations},
    counter_text{"fallbacks", &scute_counters::fallbacks},
    counter_text{"repairs", &scute_counters::repairs},
    counter_text{"losses", &scute_counters::losses},
    counter_text{"verified_bytes", &scute_counters::verified_bytes},
    counter_text{"unverified_bytes", &scute_counters::unverified_bytes},
    counter_text{"unverified_max", &scute_counters::unverified_max},
    counter_text{"scrubs", &scute_counters::scrubs},
    counter_text{"pages_repaired", &scute_counters::pages_repaired},
    counter_text{"logged", &scute_counters::logged},
    counter_text{"drains", &scute_counters::drains},
    counter_text{"undo_spills", &scute_counters::undo_spills},
    counter_text{"shorts", &scute_counters::shorts},
};

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_text(const open_pool& pool, const space_use& use) {
  const scute_info info = pool.info();
  const uint64_t free_chunk_bytes = info.chunks_free * info.chunk_size;
  fact_sheet space;
  space.add("file", exact_size_text(info.size));
  space.add("objects",
            fmt::format("{} with {}", count_text(use.objects), exact_size_text(use.object_bytes)));
  space.add("free chunks", fmt::format("{} with {}", count_text(info.chunks_free),
                                       exact_size_text(free_chunk_bytes)));
  space.add("free slots", exact_size_text(use.free_slot_bytes));
  space.add("large objects",
            fmt::format("{} in {} chunks", count_text(use.spans), count_text(use.span_chunks)));
  space.add("lent to logs", fmt::format("{} chunks", count_text(use.log_chunks)));
  if (info.log_cap != 0)
    space.add("log", fmt::format("{} of {} in use, void up to {}", size_text(info.log_used),
                                 size_text(info.log_cap), count_text(info.log_truncation_point)));
  space.add("overhead", exact_size_text(info.overhead));
  space.print();

  fmt::print("\nobjects by type\n");
  table types(
      {{"type"}, {"objects", true}, {"bytes", true}, {"smallest", true}, {"largest", true}});
  for (const auto& [type, t] : use.types) {
    types.add({fmt::format("{:#010x}", type), count_text(t.objects), count_text(t.bytes),
               count_text(t.smallest), count_text(t.largest)});
  }
  types.print("  ");

  fmt::print("\nobjects by size\n");
  uint64_t most = 1;
  for (const auto& [size, objects] : use.sizes) most = std::max(most, objects);
  table sizes({{"up to", true}, {"objects", true}, {""}});
  for (const auto& [size, objects] : use.sizes)
    sizes.add({size_text(size), count_text(objects), std::string(objects * 40 / most, '#')});
  sizes.print("  ");

  fmt::print("\nslot classes\n");
  table classes(
      {{"slot", true}, {"chunks", true}, {"slots", true}, {"used", true}, {"used %", true}});
  for (const auto& [size, c] : use.slot_classes) {
    classes.add({count_text(size), count_text(c.chunks), count_text(c.slots), count_text(c.used),
                 fmt::format("{:.1f}", percent(c.used, c.slots))});
  }
  classes.print("  ");

  fmt::print("\ncounters of this open\n");
  const scute_counters counters = pool.counters();
  for (const counter_text& c : counter_table)
    fmt::print("  {:<16}  {:>12}\n", c.name, count_text(counters.*c.field));
}

void print_as_json(const open_pool& pool, const space_use& use) {
  const scute_info info = pool.info();
  json types = json::array();
  for (const auto& [type, t] : use.types) {
    types.push_back({{"type", type},
                     {"objects", t.objects},
                     {"bytes", t.bytes},
                     {"smallest", t.smallest},
                     {"largest", t.largest}});
  }
  json sizes = json::array();
  for (const auto& [size, objects] : use.sizes)
    sizes.push_back({{"up_to", size}, {"objects", objects}});
  json classes = json::array();
  for (const auto& [size, c] : use.slot_classes) {
    classes.push_back(
        {{"slot_size", size}, {"chunks", c.chunks}, {"slots", c.slots}, {"used", c.used}});
  }
  json counters;
  const scute_counters values = pool.counters();
  for (const counter_text& c : counter_table) counters[c.name] = values.*c.field;
  print_json({{"path", pool.path()},
              {"size", info.size},
              {"objects", use.objects},
              {"object_bytes", use.object_bytes},
              {"chunk_size", info.chunk_size},
              {"chunk_count", info.chunk_count},
              {"chunks_free", info.chunks_free},
              {"free_chunk_bytes", info.chunks_free * info.chunk_size},
              {"free_slot_bytes", use.free_slot_bytes},
              {"spans", use.spans},
              {"span_chunks", use.span_chunks},
              {"log_chunks", use.log_chunks},
              {"log_cap", info.log_cap},
              {"log_used", info.log_used},
              {"log_truncation_point", info.log_truncation_point},
              {"overhead", info.overhead},
              {"types", std::move(types)},
              {"sizes", std::move(sizes)},
              {"slot_classes", std::move(classes)},
              {"counters", std::move(counters)}});
}

void run_stats(const stats_arguments& args) {
  const open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_read);
  space_use use;
  const auto print = [&] {
    count_chunks(pool, use);
    if (args.json)
      print_as_json(pool, use);
    else
      print_text(pool, use);
  };
  try {
    count_objects(pool, use);
  } catch (const failure&) {  // all readable objects, before the report that there are more
    print();
    throw;
  }
  print();
}

}  // namespace

void add_stats(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("stats", "Show where a pool's space goes");
  auto args = std::make_shared<stats_arguments>();
  add_pool_path(*app, args->path);
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  app->footer(
      "Objects per type and per size, slot classes, free space, and what this open has counted.\n"
      "Opens the pool read-only.\n"
      "\nExamples:\n"
      "  scute stats notes.pool\n"
      "  scute stats notes.pool --json | jq '.slot_classes[] | select(.used < .slots)'");
  app->callback([args] { run_stats(*args); });
}

}  // namespace scute_tool

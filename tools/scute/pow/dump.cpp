// SPDX-License-Identifier: BSD-3-Clause
// dump.cpp: scute pow dump PATH: tables, objects, segments, in a form that tests can compare.
#include "base64.hpp"
#include "command.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "pow/objects.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

namespace {

struct pow_dump_arguments {
  std::string path;
  std::string table;
  store_flags flags;
  bool objects = false;
  bool segments = false;
  bool hex = false;
  bool json = false;
  bool quiet = false;
};

const char* use_name(scute_pow_use use) {
  switch (use) {
    case SCUTE_POW_FREE: return "free";
    case SCUTE_POW_OPEN: return "open";
    case SCUTE_POW_FULL: return "full";
    case SCUTE_POW_VICTIM: return "victim";
    case SCUTE_POW_SEAL: return "seal";
  }
  return "unknown";
}

std::vector<scute_pow_segment_info> segments_of(store_file& file) {
  std::vector<scute_pow_segment_info> all;
  working_on(file.path(), [&] {
    scute::detail::check(scute_pow_list_segments(
        file.store().native_handle(),
        [](void* arg, const scute_pow_segment_info* s) {
          static_cast<std::vector<scute_pow_segment_info>*>(arg)->push_back(*s);
        },
        &all));
  });
  return all;
}

void dump_segments(store_file& file, bool as_json, json& document) {
  json list = json::array();
  table rows({{"segment", true},
              {"offset", true},
              {"use"},
              {"session", true},
              {"lane", true},
              {"generation", true},
              {"group", true},
              {"live bytes", true}});
  for (const scute_pow_segment_info& s : segments_of(file)) {
    if (s.use == SCUTE_POW_FREE) continue;
    json one{{"segment", s.number},       {"offset", s.offset}, {"use", use_name(s.use)},
             {"session", s.session},      {"lane", s.lane},     {"generation", s.generation},
             {"live_bytes", s.live_bytes}};
    if (s.group != SCUTE_POW_NO_SEGMENT) one["group"] = s.group;
    list.push_back(std::move(one));
    rows.add({fmt::format("{}", s.number), fmt::format("{:#x}", s.offset), use_name(s.use),
              fmt::format("{}", s.session), fmt::format("{}", s.lane),
              fmt::format("{}", s.generation),
              s.group == SCUTE_POW_NO_SEGMENT ? "" : fmt::format("{}", s.group),
              count_text(s.live_bytes)});
  }
  if (as_json) {
    document["segments"] = std::move(list);
    return;
  }
  fmt::print("segments\n");
  rows.print("  ");
}

void dump_table(store_file& file, const scute_pow_table_info& t, const pow_dump_arguments& args,
                json& tables) {
  json entry{{"name", t.name}, {"number", t.number},   {"type", t.type},
             {"size", t.size}, {"objects", t.objects}, {"bytes", t.bytes}};
  if (!args.json)
    fmt::print("table {} (number {}, type {:08x}, {}): {} objects, {} bytes\n", t.name, t.number,
               t.type, t.size == 0 ? "sizes vary" : fmt::format("{} bytes each", t.size), t.objects,
               t.bytes);
  if (args.objects || args.hex) {
    json list = json::array();
    for_each_object(file, t, [&](const object& o) {
      if (args.json) {
        json one{{"id", o.index()}, {"bytes", o.bytes.size()}};
        if (args.hex)
          one["base64"] =
              base64_encode({reinterpret_cast<const char*>(o.bytes.data()), o.bytes.size()});
        list.push_back(std::move(one));
        return;
      }
      fmt::print("  {} {} bytes\n", o.index(), o.bytes.size());
      if (args.hex) print_hex(o.bytes.data(), o.bytes.size(), "    ");
    });
    if (args.json) entry["list"] = std::move(list);
  }
  tables.push_back(std::move(entry));
}

void run_pow_dump(const pow_dump_arguments& args) {
  progress bar(args.quiet);
  store_file file(args.path, args.flags, store_file::how::read, &bar);
  bar.finish();
  json document{{"path", args.path}};
  json tables = json::array();
  bool any = false;
  if (!args.segments || args.objects || args.hex || !args.table.empty())
    for (const scute_pow_table_info& t : file.tables()) {
      if (!args.table.empty() && args.table != t.name) continue;
      any = true;
      dump_table(file, t, args, tables);
    }
  if (!args.table.empty() && !any)
    throw failure(exit_not_found, args.path, fmt::format("there is no table \"{}\"", args.table));
  if (args.json) document["tables"] = std::move(tables);
  if (args.segments) dump_segments(file, args.json, document);
  if (args.json) print_json(document);
}

}  // namespace

void add_pow_dump(CLI::App& pow, exit_code&) {
  CLI::App* app = pow.add_subcommand("dump", "Show the inside of a file: tables, objects, bytes");
  auto args = std::make_shared<pow_dump_arguments>();
  add_pool_path(*app, args->path);
  app->add_flag("--objects", args->objects, "the objects, by their index");
  app->add_flag("--hex", args->hex, "the objects with their bytes");
  app->add_flag("--segments", args->segments, "the segments in use");
  app->add_option("--table", args->table, "only this table")->type_name("NAME");
  args->flags.add_salvage(*app);
  args->flags.add_to(*app, false);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "Without --objects, --hex or --segments: the tables. Leaves the file as it is.\n"
      "\nExamples:\n"
      "  scute pow dump notes.pow\n"
      "  scute pow dump notes.pow --table kv --hex\n"
      "  scute pow dump notes.pow --segments --json");
  app->callback([args] { run_pow_dump(*args); });
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
// info.cpp: scute pow info PATH
#include "command.hpp"
#include "output.hpp"
#include "pow/store_file.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

namespace {

struct pow_info_arguments {
  std::string path;
  store_flags flags;
  bool json = false;
  bool quiet = false;
};

double share(const scute_pow_info& i) {
  return i.used_bytes == 0 ? 0
                           : static_cast<double>(i.live_bytes) / static_cast<double>(i.used_bytes);
}

void print_info_json(store_file& file, const scute_pow_info& i) {
  json tables = json::array();
  for (const scute_pow_table_info& t : file.tables())
    tables.push_back({{"name", t.name},
                      {"type", t.type},
                      {"size", t.size},
                      {"objects", t.objects},
                      {"bytes", t.bytes}});
  json findings = json::array();
  for (const damage& d : file.found()) findings.push_back(d.in_json());
  print_json({{"path", file.path()},
              {"uuid", uuid_text(i.uuid)},
              {"medium", name_of(i.medium)},
              {"protection", name_of(i.protection)},
              {"file_size", i.file_size},
              {"segment_size", i.segment_size},
              {"segments", i.segments},
              {"segments_free", i.segments_free},
              {"segments_sealed", i.segments_sealed},
              {"groups", i.groups},
              {"live_bytes", i.live_bytes},
              {"used_bytes", i.used_bytes},
              {"objects", i.objects},
              {"object_bytes", i.object_bytes},
              {"memory", i.memory},
              {"session", i.session},
              {"clean", i.clean != 0},
              {"records", i.recovered_records},
              {"repairable", i.recovered_repaired},
              {"lost", i.recovered_lost},
              {"findings", std::move(findings)},
              {"tables", std::move(tables)}});
}

void print_info(store_file& file, const scute_pow_info& i) {
  fact_sheet facts;
  facts.add("path", file.path());
  facts.add("uuid", uuid_text(i.uuid));
  facts.add("medium", name_of(i.medium));
  facts.add("protection", name_of(i.protection));
  facts.add("size", exact_size_text(i.file_size));
  facts.add("segments", fmt::format("{} of {}, {} free", count_text(i.segments),
                                    size_text(i.segment_size), count_text(i.segments_free)));
  if (i.protection == SCUTE_POW_SEALED)
    facts.add(
        "sealed",
        fmt::format("{} of {} segments in use, in {} groups", count_text(i.segments_sealed),
                    count_text(i.segments - i.segments_free - i.groups), count_text(i.groups)));
  facts.add("live records", fmt::format("{}, {:.0f} % of the used space",
                                        exact_size_text(i.live_bytes), 100 * share(i)));
  facts.add("objects",
            fmt::format("{} with {}", count_text(i.objects), exact_size_text(i.object_bytes)));
  facts.add("memory when open", size_text(i.memory));
  facts.add("sessions", count_text(i.session));
  facts.add("closed",
            i.clean != 0 ? "properly" : "not properly: recovery comes at the next opening");
  facts.add("damage", i.recovered_lost != 0       ? "beyond repair (`scute pow check` reports it)"
                      : i.recovered_repaired != 0 ? "repairable (`scute pow check --repair`)"
                                                  : "none");
  facts.print();
  table tables({{"table"}, {"objects", true}, {"bytes", true}, {"type", true}, {"each", true}});
  for (const scute_pow_table_info& t : file.tables())
    tables.add({t.name, count_text(t.objects), count_text(t.bytes), fmt::format("{:08x}", t.type),
                t.size == 0 ? "vary" : count_text(t.size)});
  if (tables.empty()) return;
  fmt::print("\n");
  tables.print();
}

void run_pow_info(const pow_info_arguments& args) {
  store_flags flags = args.flags;
  flags.salvage = true;
  progress bar(args.quiet);
  store_file file(args.path, flags, store_file::how::read, &bar);
  bar.finish();
  const scute_pow_info i = file.info();
  if (args.json)
    print_info_json(file, i);
  else
    print_info(file, i);
}

}  // namespace

void add_pow_info(CLI::App& pow, exit_code&) {
  CLI::App* app = pow.add_subcommand("info", "Show what is in a file: tables, sizes, space");
  auto args = std::make_shared<pow_info_arguments>();
  add_pool_path(*app, args->path);
  args->flags.add_to(*app, false);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "Reads all of the file, and leaves it as it is.\n"
      "\nExamples:\n"
      "  scute pow info notes.pow\n"
      "  scute pow info notes.pow --json | jq .tables");
  app->callback([args] { run_pow_info(*args); });
}

}  // namespace scute_tool

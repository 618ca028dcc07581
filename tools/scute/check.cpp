// SPDX-License-Identifier: BSD-3-Clause
// check.cpp: scute check PATH [--repair [--without-log]]
#include "command.hpp"
#include "failure.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "page_losses.hpp"
#include "pool_facts.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace scute_tool {

namespace {

struct check_arguments {
  std::string path;
  pool_options options;
  bool repair = false;
  bool without_log = false;
  bool json = false;
  bool quiet = false;
};

struct finding {
  std::string what;
  uint64_t offset;
  uint64_t length;
  scute_oid object;
  bool repaired;
  uint64_t others;  // alike ones on these bytes, reported as one
};

using findings = std::vector<finding>;

// Repairs by opening the pool, and by its recovery: in the file, or in private memory.
finding found_at_open(const scute_event& e, bool repair) {
  const bool repaired = repair && e.outcome == SCUTE_OUTCOME_REPAIRED;
  return {name_of(e.kind), e.offset, e.length, e.object, repaired, e.count - 1};
}

// Earlier repairs: by opening, and lost pages that came back when the check read them. And records
// of the log that opening found to be missing, and objects that were lost with pages, of which the
// pool has no other trace.
struct repaired_before {
  uint64_t at_open = 0, by_reading = 0, records_lost = 0, lost_with_pages = 0;
};

// That counts as damage too.
exit_code result_code(const scute_report& report, const repaired_before& repaired) {
  if (report.lost + repaired.records_lost + repaired.lost_with_pages > 0) return exit_lost;
  return report.damaged + repaired.at_open + repaired.by_reading > 0 ? exit_damaged : exit_ok;
}

const char* result_text(exit_code code, bool repair) {
  if (code == exit_lost) return "data is lost";
  if (code == exit_damaged) return repair ? "repaired" : "damaged, repairable with --repair";
  return "clean";
}

void print_text(const scute_report& report, const findings& found, const repaired_before& repaired,
                const scute_info& info, const char* result, bool gave_up) {
  for (const finding& f : found) {
    fmt::print("{}: {} at {:#x}, {} bytes", f.repaired ? "repaired" : "damaged", f.what, f.offset,
               f.length);
    if (f.object != SCUTE_OID_NULL) fmt::print(", object {:#x}", offset_of(f.object));
    if (f.others != 0) fmt::print(", and {} more there", count_text(f.others));
    fmt::print("\n");
  }
  if (gave_up)
    fmt::print(
        "given up with the log: the commits of the time that `may be missing` names below. Each of "
        "these\ntransactions may be present, missing, or present in part; compare the program's "
        "last writes with\nthe data\n");
  fact_sheet facts;
  facts.add("objects", fmt::format("{} with {}", count_text(report.objects),
                                   exact_size_text(report.object_bytes)));
  facts.add("chunk headers", count_text(report.chunks));
  facts.add("parity compared", exact_size_text(report.columns_bytes));
  if (info.rolled_back != 0 || info.finished != 0)
    facts.add("recovery", fmt::format("{} fragments rolled back, parity of {} completed",
                                      count_text(info.rolled_back), count_text(info.finished)));
  if (repaired.at_open > 0) facts.add("repaired by opening", count_text(repaired.at_open));
  if (repaired.by_reading > 0) facts.add("repaired by reading", count_text(repaired.by_reading));
  if (repaired.records_lost > 0) facts.add("log records lost", count_text(repaired.records_lost));
  if (repaired.lost_with_pages > 0)
    facts.add("lost with pages", count_text(repaired.lost_with_pages));
  facts.add("damaged", count_text(report.damaged));
  facts.add("repaired", count_text(report.repaired));
  facts.add("lost", count_text(report.lost));
  add_lost_log(facts, info);
  facts.add("result", result);
  facts.print();
}

void print_report_json(const std::string& path, const scute_report& report, const findings& found,
                       const repaired_before& repaired, const scute_info& info, const char* result,
                       bool repair, bool gave_up) {
  json list = json::array();
  for (const finding& f : found) {
    json entry{{"what", f.what}, {"offset", f.offset}, {"length", f.length}};
    entry["object"] = f.object == SCUTE_OID_NULL ? json() : json(offset_of(f.object));
    entry["repaired"] = f.repaired;
    entry["count"] = f.others + 1;
    list.push_back(std::move(entry));
  }
  print_json({{"path", path},
              {"repair", repair},
              {"objects", report.objects},
              {"object_bytes", report.object_bytes},
              {"chunks", report.chunks},
              {"columns_bytes", report.columns_bytes},
              {"rolled_back", info.rolled_back},
              {"finished", info.finished},
              {"repaired_at_open", repaired.at_open},
              {"repaired_by_reading", repaired.by_reading},
              {"log_records_lost", repaired.records_lost},
              {"log_given_up", gave_up},
              {"lost_log", lost_log_json(info)},
              {"objects_lost_with_pages", repaired.lost_with_pages},
              {"damaged", report.damaged},
              {"repaired", report.repaired},
              {"lost", report.lost},
              {"result", result},
              {"findings", std::move(list)}});
}

exit_code run_check(const check_arguments& args) {
  progress bar(args.quiet);
  scute::options options = args.options.resolve();
  options.progress = bar.callback();
  options.without_log = options.without_log || args.without_log;
  findings found;
  bool opening = true;
  uint64_t records_lost = 0;
  bool gave_up = false;
  page_losses with_pages;
  options.event = [&](const scute_event& e) {
    with_pages.see(e, opening);
    if (!opening) return;
    found.push_back(found_at_open(e, args.repair));
    if (e.kind != SCUTE_EVENT_LOG || e.outcome != SCUTE_OUTCOME_LOST) return;
    records_lost += e.count;
    gave_up = args.without_log;
  };
  open_pool pool(args.path, options,
                 args.repair ? open_pool::how::open_to_write : open_pool::how::open_to_read);
  // Recovery first: the damage that it finds and repairs counts as well.
  working_on(args.path, [&] { pool.pool().wait_for_recovery(bar.callback()); });
  const scute_info before = pool.info();
  opening = false;

  const auto on_finding = [&](std::string_view what, uint64_t offset, uint64_t length,
                              scute_oid object, bool repaired) {
    found.push_back({std::string(what), offset, length, object, repaired, 0});
  };
  const scute_report report = working_on(
      args.path, [&] { return pool.pool().check(args.repair, on_finding, bar.callback()); });
  bar.finish();
  const scute_info info = pool.info();  // the work of recovery, which check() has finished
  pool.close();

  const repaired_before repaired{before.repaired, info.pages_repaired - before.pages_repaired,
                                 records_lost, with_pages.objects(info)};
  const exit_code code = result_code(report, repaired);
  const char* result = result_text(code, args.repair);
  if (args.json)
    print_report_json(args.path, report, found, repaired, info, result, args.repair, gave_up);
  else
    print_text(report, found, repaired, info, result, gave_up);
  return code;
}

}  // namespace

void add_check(CLI::App& root, exit_code& status) {
  CLI::App* app = root.add_subcommand("check", "Verify everything in a pool, and repair it");
  auto args = std::make_shared<check_arguments>();
  add_pool_path(*app, args->path);
  CLI::Option* repair =
      app->add_flag("--repair", args->repair, "repair what the redundancy allows");
  app->add_flag("--without-log", args->without_log,
                "if the log (PATH.log) of a pool that was not closed is lost: discard the commits "
                "that only it had")
      ->needs(repair);
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "Verifies structures, objects and parity. Without --repair the file is not touched. After "
      "an\n"
      "unclean end recovery comes first. Faults that no crash can have left are damage. Those that "
      "recovery repairs are reported\n"
      "as `repaired by opening`, and lost pages that are rebuilt when they are read as `repaired "
      "by\n"
      "reading`. Space that was never used is not examined. Objects `lost with pages` were in "
      "pages\n"
      "that could not be rebuilt; at level mlp, where objects have no checksums, `scute events` "
      "names\n"
      "them and later checks cannot. --without-log discards the commits that only a lost log had; "
      "the\n"
      "pool keeps a mark of that.\n"
      "Exit status: 0 clean; 2 damage was found and is repaired (or could be, without --repair);\n"
      "3 data is lost; others as in `scute --help`.\n"
      "\nExamples:\n"
      "  scute check /dev/shm/notes.pool\n"
      "  scute check /dev/shm/notes.pool --repair --json | jq .findings");
  app->callback([args, &status] { status = run_check(*args); });
}

}  // namespace scute_tool

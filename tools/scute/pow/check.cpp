// SPDX-License-Identifier: BSD-3-Clause
// check.cpp: scute pow check PATH [--repair]
#include "command.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "pow/store_file.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

namespace {

struct pow_check_arguments {
  std::string path;
  store_flags flags;
  bool repair = false;
  bool json = false;
  bool quiet = false;
};

exit_code run_pow_check(const pow_check_arguments& args) {
  progress bar(args.quiet);
  store_flags flags = args.flags;
  // Reading alone changes nothing, so every fault can be reported.
  flags.salvage = flags.salvage || !args.repair;
  store_file file(args.path, flags, args.repair ? store_file::how::write : store_file::how::read,
                  &bar);
  std::vector<damage> found = file.found();
  const auto report = [&](const scute_pow_damage& d) { found.emplace_back(d); };
  working_on(args.path,
             [&] { file.store().check_details(args.repair ? SCUTE_POW_REPAIR : 0, report); });
  bar.finish();
  const scute_pow_info i = file.info();
  file.close();

  uint64_t lost = 0;
  for (const damage& d : found) lost += d.lost ? 1 : 0;
  // Head pages have no place in the list.
  const uint64_t repairable =
      i.recovered_repaired + found.size() - file.found().size() - (lost - i.recovered_lost);
  const exit_code code = lost != 0 ? exit_lost : repairable != 0 ? exit_damaged : exit_ok;
  const char* const result = lost != 0         ? "data is lost"
                             : repairable == 0 ? "clean"
                             : args.repair     ? "repaired"
                                               : "damaged, repairable with --repair";
  if (args.json) {
    json list = json::array();
    for (const damage& d : found) list.push_back(d.in_json());
    print_json({{"path", args.path},
                {"repair", args.repair},
                {"clean_close", i.clean != 0},
                {"records", i.recovered_records},
                {"dropped", i.recovered_dropped},
                {"objects", i.objects},
                {"object_bytes", i.object_bytes},
                {"damaged", repairable},
                {"lost", lost},
                {"result", result},
                {"findings", std::move(list)}});
    return code;
  }
  for (const damage& d : found)
    fmt::print("{}: {}\n", d.lost ? "lost" : args.repair ? "repaired" : "damaged", d.what);
  fact_sheet facts;
  facts.add("objects",
            fmt::format("{} with {}", count_text(i.objects), exact_size_text(i.object_bytes)));
  facts.add("records read", count_text(i.recovered_records));
  if (i.clean == 0)
    facts.add("cut short by a crash", fmt::format("{} frames", count_text(i.recovered_dropped)));
  facts.add("damaged", count_text(repairable));
  facts.add("lost", count_text(lost));
  facts.add("result", result);
  facts.print();
  return code;
}

}  // namespace

void add_pow_check(CLI::App& pow, exit_code& status) {
  CLI::App* app =
      pow.add_subcommand("check", "Read and verify everything in a file, and repair it");
  auto args = std::make_shared<pow_check_arguments>();
  add_pool_path(*app, args->path);
  app->add_flag("--repair", args->repair, "repair what the redundancy allows");
  args->flags.add_salvage(*app);
  args->flags.add_to(*app, false);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "Tests the checksums of all current records, all copies, and that every object is present.\n"
      "Sections that a crash cut short are no damage. Losses are reported by table and objects "
      "where\n"
      "the damaged bytes allow it, and otherwise by segment, lane and section numbers. Without "
      "--repair\n"
      "the file is not touched; with it a file with losses is refused, unless --salvage accepts "
      "them.\n"
      "Exit status: 0 clean; 2 damage that is repaired (or could be); 3 data is lost.\n"
      "\nExamples:\n"
      "  scute pow check notes.pow\n"
      "  scute pow check notes.pow --repair --json | jq .findings");
  app->callback([args, &status] { status = run_pow_check(*args); });
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
// shield_audit.cpp: scute shield audit [OPTIONS] PROGRAM [ARGUMENTS...]
#include "audit_report.hpp"
#include "command.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "report_file.hpp"
#include "shielded_program.hpp"
#include "standard_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace scute_tool {

namespace {

struct shield_audit_arguments {
  shielded_program program;
  std::vector<std::string> fail_on{"unflushed", "unfenced", "strays"};
  size_t lines = 10;
  std::string output;  // empty: standard output
  bool json = false, all = false;

  bool fails_on(const char* what) const {
    return std::find(fail_on.begin(), fail_on.end(), what) != fail_on.end();
  }
};

// The reason for which the run fails; null: none.
const char* failing(const shield_audit_arguments& args, const audit_totals& t) {
  if (t.certain_strays > 0 && args.fails_on("strays")) return "there were stray stores";
  if (t.unflushed > t.unsure && args.fails_on("unflushed")) return "stores were never flushed";
  if (t.unfenced > 0 && args.fails_on("unfenced")) return "lines were flushed and never fenced";
  if (t.repeated > 0 && args.fails_on("repeated")) return "lines were flushed twice before a fence";
  if (t.unchanged > 0 && args.fails_on("unchanged")) return "lines were flushed in vain";
  if (t.idle > 0 && args.fails_on("idle")) return "fences had nothing to wait for";
  return nullptr;
}

exit_code run_shield_audit(const shield_audit_arguments& args) {
  report_file report(args.output);
  program_notice noticed;
  const scute_shield_outcome outcome = args.program.run(noticed);
  const int status = status_of(outcome);
  const audit_totals totals = totals_of(noticed);
  const char* const failed = failing(args, totals);
  const char* const result = outcome.failed > 0      ? "not written back"
                             : noticed.views.empty() ? "no shielded file was opened"
                             : failed != nullptr     ? failed
                             : totals.unsure > 0
                                 ? "clean, except for lines that may be libpmemobj's own"
                                 : "clean";
  report.write([&] {
    if (args.json) {
      print_json({{"program", args.program.words.front()},
                  {"status", status},
                  {"unflushed_lines", totals.unflushed},
                  {"unfenced_lines", totals.unfenced},
                  {"stray_lines", totals.strays},
                  {"result", result},
                  {"views", views_json(noticed)}});
    } else {
      print_audit(noticed, args.all, args.lines);
      fmt::print("result: {}\n", result);
    }
  });
  if (status != 0) return static_cast<exit_code>(status);
  if (outcome.failed > 0) return exit_lost;
  if (noticed.views.empty()) return exit_error;
  return failed != nullptr ? exit_damaged : exit_ok;
}

}  // namespace

void add_shield_audit(CLI::App& shield, exit_code& status) {
  CLI::App* app = shield.add_subcommand(
      "audit", "Run a program on shielded files, and say which stores it never made durable");
  auto args = std::make_shared<shield_audit_arguments>();
  args->program.sites = true;
  args->program.add_to(*app);
  add_json_flag(*app, args->json);
  app->add_option("--output", args->output,
                  "write the report to this file, which is replaced before the program starts, and "
                  "not to standard output, which is the program's")
      ->check([](const std::string& given) {
        return given.empty() ? "the path is empty; name the file" : "";
      })
      ->type_name("FILE");
  app->add_flag("--all", args->all, "show all places in the source, also those without a finding");
  app->add_option("--lines", args->lines, "number of lines with findings to show for each file")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--fail-on", args->fail_on,
                  "findings that make the exit status 2, separated by commas: unflushed, unfenced, "
                  "strays, repeated, unchanged, idle; none: no finding does")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(
          one_of({"unflushed", "unfenced", "strays", "repeated", "unchanged", "idle", "none"}))
      ->type_name("LIST")
      ->default_str("unflushed,unfenced,strays");
  app->footer(
      "Runs the program as `scute shield run` does, and counts:\n"
      "  lines (64 bytes) that were stored to and never flushed, which a power failure may lose;\n"
      "  lines that were flushed and never fenced, which it may lose as well;\n"
      "  stray stores: lines that changed without a reported store;\n"
      "  lines that were flushed twice before a fence, or had not changed;\n"
      "  fences with nothing to wait for.\n"
      "For code that scute-cc has compiled it gives the place in the source, and with "
      "-fscute=detect\n"
      "the place of the last store to a line that was never flushed. A store of the value that the "
      "line\n"
      "had is not noticed. Locks of libpmemobj, which it never flushes, are counted separately. "
      "The\n"
      "report goes to standard output, after the program's own output, or to --output.\n"
      "Exit status: the program's, if it is not 0; else 0: nothing was left unflushed or unfenced, "
      "and\n"
      "no store was a stray; 2: something was (--fail-on); 3: a file could not be written back; 1: "
      "the\n"
      "program opened no shielded file. 1 also if the report could not be written, whatever the\n"
      "program's was.\n"
      "\nExamples:\n"
      "  scute shield audit ./shop /dev/shm/shop.pool\n"
      "  scute shield audit --fail-on unflushed,repeated,idle ./shop /dev/shm/shop.pool\n"
      "  scute shield audit --json --output audit.json -- ./shop --fast /dev/shm/shop.pool");
  app->callback([args, &status] { status = run_shield_audit(*args); });
}

}  // namespace scute_tool

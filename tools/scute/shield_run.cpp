// SPDX-License-Identifier: BSD-3-Clause
// shield_run.cpp: scute shield run [OPTIONS] PROGRAM [ARGUMENTS...]
#include "command.hpp"
#include "failure.hpp"
#include "shielded_program.hpp"
#include "standard_streams.hpp"

#include <memory>

namespace scute_tool {

namespace {

struct shield_run_arguments {
  shielded_program program;
};

exit_code run_shield_run(const shield_run_arguments& args) {
  program_notice noticed;
  const scute_shield_outcome outcome = args.program.run(noticed);
  for (const view_counts& v : noticed.views)
    if (v.counts.dropped_lines > 0)
      print_error("scute: {}: {} lines that were never flushed are in {}.scute-unflushed\n", v.file,
                  v.counts.dropped_lines, v.file);
  for (const view_counts& v : noticed.views)
    if (v.counts.stray_lines > 0)
      print_error("scute: {}: {} stray stores; `scute shield audit` says more\n", v.file,
                  v.counts.stray_lines);
  const int status = status_of(outcome);
  return static_cast<exit_code>(outcome.failed > 0 && status == 0 ? exit_lost : status);
}

}  // namespace

void add_shield_run(CLI::App& shield, exit_code& status) {
  CLI::App* app =
      shield.add_subcommand("run", "Run a program that does not know Scute on shielded files");
  auto args = std::make_shared<shield_run_arguments>();
  args->program.add_to(*app);
  app->footer(
      "Protects every file that the program opens and that has a FILE.scute next to it. Bytes that "
      "it\n"
      "flushes and fences (libpmem, libpmem2, msync, instrumented code) are committed with "
      "checksums and\n"
      "parity, and damage is repaired before it is read. When the program is killed the file keeps "
      "all\n"
      "its stores, as without the shield. After SIGSEGV, SIGBUS, SIGABRT and the like it keeps "
      "only the\n"
      "flushed ones; the rest is put into FILE.scute-unflushed.\n"
      "Exit status: the program's; 128 and the signal's number if it was killed; 3 instead of 0 if "
      "a\n"
      "file could not be written back; 1 if the program could not be started.\n"
      "\nExamples:\n"
      "  scute shield add /dev/shm/shop.pool\n"
      "  scute shield run ./shop /dev/shm/shop.pool\n"
      "  scute shield run --windows off -- ./shop --fast /dev/shm/shop.pool");
  app->callback([args, &status] { status = run_shield_run(*args); });
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
// shield_audit.cpp: scute shield audit [OPTIONS] PROGRAM [ARGUMENTS...]
#include "command.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "shielded_program.hpp"
#include "standard_streams.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

namespace {

struct arguments {
  shielded_program program;
  bool json = false;
};

json view_json(const view_counts& v) {
  const scute_shield_counts& c = v.counts;
  return {{"file", v.file},
          {"process", c.process},
          {"signal", c.signal},
          {"flushes", c.flushes},
          {"repeated_flushes", c.repeated_flushes},
          {"unchanged_flushes", c.unchanged_flushes},
          {"fences", c.fences},
          {"empty_fences", c.empty_fences},
          {"commits", c.commits},
          {"committed_lines", c.committed_lines},
          {"unflushed_lines", c.unflushed_lines},
          {"masked_lines", c.masked_lines},
          {"dropped_lines", c.dropped_lines},
          {"healed", c.healed}};
}

void print_view(const view_counts& v) {
  const scute_shield_counts& c = v.counts;
  fact_sheet facts;
  facts.add("file", v.file);
  facts.add("flushed", fmt::format("{} lines", count_text(c.flushes)));
  facts.add("of them again", fmt::format("{} before a fence", count_text(c.repeated_flushes)));
  facts.add("of them in vain", fmt::format("{} unchanged", count_text(c.unchanged_flushes)));
  facts.add("fences", fmt::format("{}, {} with nothing to wait for", count_text(c.fences),
                                  count_text(c.empty_fences)));
  facts.add("commits",
            fmt::format("{} of {} lines", count_text(c.commits), count_text(c.committed_lines)));
  facts.add("never flushed",
            fmt::format("{} lines{}", count_text(c.unflushed_lines),
                        c.masked_lines == 0 ? std::string()
                                            : fmt::format(", and {} that libpmemobj never flushes",
                                                          count_text(c.masked_lines))));
  if (c.signal != 0) facts.add("killed by signal", fmt::format("{}", c.signal));
  facts.print();
  fmt::print("\n");
}

exit_code run(const arguments& args) {
  std::vector<view_counts> counts;
  const scute_shield_outcome outcome = args.program.run(counts);
  const int status = status_of(outcome);
  uint64_t unflushed = 0;
  for (const view_counts& v : counts) unflushed += v.counts.unflushed_lines;
  const char* const verdict = outcome.failed > 0 ? "not settled"
                              : counts.empty()   ? "no shielded file was opened"
                              : unflushed > 0    ? "stores were never flushed"
                                                 : "clean";
  if (args.json) {
    json views = json::array();
    for (const view_counts& v : counts) views.push_back(view_json(v));
    print_json({{"program", args.program.words.front()},
                {"status", status},
                {"unflushed_lines", unflushed},
                {"result", verdict},
                {"views", std::move(views)}});
  } else {
    for (const view_counts& v : counts) print_view(v);
    fmt::print("result: {}\n", verdict);
  }
  if (status != 0) return static_cast<exit_code>(status);
  if (outcome.failed > 0) return exit_lost;
  if (counts.empty()) return exit_error;
  return unflushed > 0 ? exit_damaged : exit_ok;
}

}  // namespace

void add_shield_audit(CLI::App& shield, exit_code& status) {
  CLI::App* app = shield.add_subcommand(
      "audit", "Run a program on shielded files, and say which stores it never made durable");
  auto args = std::make_shared<arguments>();
  args->program.add_to(*app);
  add_json_flag(*app, args->json);
  app->footer(
      "Runs the program as `scute shield run` does, and counts: lines (64 bytes) that were stored "
      "to and never flushed, "
      "which a\n"
      "power failure may lose; lines that were flushed twice before a fence, or had not changed; "
      "fences with nothing to "
      "wait for.\n"
      "A line that the program stores to with the value that it had is not noticed. Lines that "
      "hold locks of libpmemobj, "
      "which it\n"
      "never flushes, are counted apart. The report goes to standard output, when the program has "
      "ended.\n"
      "Exit status: the program's, if it is not 0; else 0: nothing was left unflushed; 2: "
      "something was; 3: a file could "
      "not be\n"
      "settled; 1: the program opened no shielded file.\n"
      "\nExamples:\n"
      "  scute shield audit ./shop /dev/shm/shop.pool\n"
      "  scute shield audit --json -- ./shop --fast /dev/shm/shop.pool > audit.json");
  app->callback([args, &status] { status = run(*args); });
}

}  // namespace scute_tool

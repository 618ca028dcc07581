// SPDX-License-Identifier: BSD-3-Clause
// compact.cpp: scute pow compact PATH
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

struct pow_compact_arguments {
  std::string path;
  store_flags flags;
  bool json = false;
  bool quiet = false;
};

void run_pow_compact(const pow_compact_arguments& args) {
  progress bar(args.quiet);
  store_file file(args.path, args.flags, store_file::how::write, &bar);
  const scute_pow_info before = file.info();
  working_on(args.path, [&] { file.store().compact(); });
  const scute_pow_info after = file.info();
  file.close();
  bar.finish();
  if (args.json) {
    print_json({{"path", args.path},
                {"size_before", before.file_size},
                {"size_after", after.file_size},
                {"live_bytes", after.live_bytes},
                {"segments_cleaned", after.cleaned_segments},
                {"bytes_copied", after.cleaned_bytes}});
    return;
  }
  fmt::print("{} before, {} now; {} of live records; {} segments cleaned, {} copied\n",
             size_text(before.file_size), size_text(after.file_size), size_text(after.live_bytes),
             count_text(after.cleaned_segments), size_text(after.cleaned_bytes));
}

}  // namespace

void add_pow_compact(CLI::App& pow, exit_code&) {
  CLI::App* app = pow.add_subcommand("compact", "Make a file as small as its content allows");
  auto args = std::make_shared<pow_compact_arguments>();
  add_pool_path(*app, args->path);
  args->flags.add_to(*app, false);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "Copies current records out of segments that have dead ones, moves the rest to the front, "
      "and\n"
      "truncates the file. It can be interrupted at any time, by a power failure "
      "too.\n"
      "\nExample:\n"
      "  scute pow compact notes.pow");
  app->callback([args] { run_pow_compact(*args); });
}

}  // namespace scute_tool

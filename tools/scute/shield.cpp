// SPDX-License-Identifier: BSD-3-Clause
// shield.cpp: scute shield add|adopt|remove FILE, and the commands that look into FILE.scute, by
// the name of FILE.
#include "command.hpp"
#include "failure.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "sidecar.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

namespace {

struct shield_arguments {
  std::string file;
  pool_options options;
  std::string capacity;
  bool guard = false;
  bool json = false;
  bool quiet = false;

  // By the library's own rules for sizes.
  uint64_t capacity_bytes() const {
    if (capacity.empty()) return 0;
    scute::options parser;
    working_on("--capacity", [&] { parser.set("size", capacity); });
    return parser.size;
  }
};

void add_file(CLI::App& app, std::string& file) {
  app.add_option("FILE", file, "the file to protect")->required()->type_name("");
}

enum class making : uint8_t { add, adopt };

// With a progress bar.
void make(const shield_arguments& args, making how) {
  progress bar(args.quiet);
  const scute::options options = args.options.resolve();
  const scute::progress_function progress = bar.callback();
  scute::detail::progress_call call{&progress};
  scute_options native = options.native();
  native.progress = &scute::detail::progress_call::run;
  native.progress_arg = &call;
  uint32_t flags = args.guard ? uint32_t{SCUTE_SHIELD_GUARD} : 0U;
  if (!args.options.any_given()) flags |= SCUTE_SHIELD_KEEP;
  const std::string file = failure::library_path(args.file);
  const uint64_t capacity = args.capacity_bytes();
  check(how == making::add ? scute_shield_add(file.c_str(), &native, capacity,
                                              flags & ~uint32_t{SCUTE_SHIELD_KEEP})
                           : scute_shield_adopt(file.c_str(), &native, capacity, flags),
        args.file);
  bar.finish();
  const std::string sidecar = sidecar_of(args.file);
  const open_pool pool(sidecar, {}, open_pool::how::open_to_read);
  scute_shield_state state{};
  state.struct_size = sizeof state;
  check(scute_shield_info(pool, &state), args.file);
  const scute_info info = pool.info();
  if (args.json) {
    print_json({{"file", args.file},
                {"size", state.size},
                {"capacity", state.capacity},
                {"rows", state.rows},
                {"parity", info.parity},
                {"engine", name_of(info.engine)},
                {"guarded", state.guard != 0}});
    return;
  }
  fact_sheet facts;
  if (args.quiet) return;
  facts.add("file", args.file);
  facts.add("size", exact_size_text(state.size));
  facts.add("capacity", exact_size_text(state.capacity));
  facts.add("protected by", sidecar);
  facts.add("slices", fmt::format("{}, {} parity", state.rows, info.parity));
  facts.add("engine", name_of(info.engine));
  if (state.guard != 0)
    facts.add("guarded", "its permissions are taken away until `scute shield remove`");
  facts.print();
}

std::shared_ptr<shield_arguments> add_making(CLI::App& app) {
  auto args = std::make_shared<shield_arguments>();
  add_file(app, args->file);
  app.add_option("--capacity", args->capacity,
                 "size to which the file may grow (default: a quarter more)")
      ->type_name("SIZE");
  app.add_flag(
      "--guard", args->guard,
      "take the file's permissions away, so that only its owner's programs open it, through Scute");
  args->options.add_to(app, pool_options::use::shield);
  add_json_flag(app, args->json);
  add_quiet_flag(app, args->quiet, "print nothing but errors, and JSON with --json");
  return args;
}

void add_shield_add(CLI::App& shield) {
  CLI::App* app = shield.add_subcommand("add", "Protect a file");
  const auto args = add_making(*app);
  app->footer(
      "Reads the file and makes FILE.scute next to it: a checksum for every 4096 bytes, parity "
      "over\n"
      "slices of the file, and logs. The file keeps its name, size and bytes. No process\n"
      "may have it open for writing.\n"
      "\nExamples:\n"
      "  scute shield add /mnt/pmem/items.pool\n"
      "  scute shield add data.bin --rows 20 --parity 2 --capacity 4G --guard");
  app->callback([args] { make(*args, making::add); });
}

void add_shield_adopt(CLI::App& shield) {
  CLI::App* app = shield.add_subcommand(
      "adopt", "Accept the present content of a shielded file, and protect it again");
  const auto args = add_making(*app);
  app->footer(
      "For a file that was changed without Scute. Makes a new FILE.scute, with the\n"
      "same options if no pool option is given; the old one stays until the new one is whole.\n"
      "Discards the logs of a session that was not closed properly.\n"
      "\nExamples:\n"
      "  scute shield adopt data.bin\n"
      "  scute shield adopt data.bin --capacity 8G");
  app->callback([args] { make(*args, making::adopt); });
}

void add_shield_remove(CLI::App& shield) {
  CLI::App* app = shield.add_subcommand("remove", "End the protection of a file");
  auto args = std::make_shared<shield_arguments>();
  add_file(*app, args->file);
  args->options.add_to(*app, pool_options::use::open);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "The file gets everything that was committed, and its permissions. All of it is checked "
      "and\nrepaired first; then FILE.scute and its log are removed. If something is lost, the "
      "file stays\nunder the shield. A file that was changed since a proper close stays as it "
      "is.\n\nExamples:\n  scute shield remove data.bin");
  app->callback([args] {
    progress bar(args->quiet);
    const scute::options options = args->options.resolve();
    const scute::progress_function progress = bar.callback();
    scute::detail::progress_call call{&progress};
    scute_options native = options.native();
    native.progress = &scute::detail::progress_call::run;
    native.progress_arg = &call;
    check(scute_shield_remove(failure::library_path(args->file).c_str(), &native), args->file);
    bar.finish();
  });
}

}  // namespace

void add_shield(CLI::App& root, exit_code& status) {
  CLI::App* app = root.add_subcommand(
      shield_name, "Protect files that were not made by Scute, and examine the protection");
  app->require_subcommand(1);
  add_shield_add(*app);
  add_shield_adopt(*app);
  add_shield_remove(*app);
  add_shield_list(*app, status);
  add_shield_run(*app, status);
  add_shield_audit(*app, status);
  add_check(*app, status);
  add_scrub(*app, status);
  add_inject(*app, status);
  add_info(*app, status);
  app->footer(
      "check, scrub, inject and info are those of `scute`, for FILE.scute; so do events, dump and\n"
      "stats, by that name.\n"
      "\nExamples:\n"
      "  scute shield add data.bin\n"
      "  scute shield run ./program data.bin\n"
      "  scute shield check data.bin --repair\n"
      "  scute shield list /mnt/pmem\n"
      "  scute shield remove data.bin");
}

}  // namespace scute_tool

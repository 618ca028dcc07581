// SPDX-License-Identifier: BSD-3-Clause
// info.cpp: scute info PATH
#include "command.hpp"
#include "event_list.hpp"
#include "failure.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "pool_facts.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

namespace {

struct info_arguments {
  std::string path;
  pool_options options;
  bool json = false;
};

std::string events_text(const std::vector<scute_event>& events) {
  if (events.empty()) return "none";
  const scute_event& last = events.back();
  return fmt::format("{} kept; the last at {}: {} at {:#x} {} (`scute events` lists them)",
                     events.size(), time_text(last.time_ns), name_of(last.kind), last.offset,
                     name_of(last.outcome));
}

void run_info(const info_arguments& args) {
  scute::options options = args.options.resolve();
  options.lazy_recovery = true;  // reports how much there is to do, instead of doing it
  const open_pool pool(args.path, options, open_pool::how::open_to_read);
  const std::vector<scute_event> events = list_events(pool);
  const scute_info info = pool.info();
  scute_shield_state shielded{};
  shielded.struct_size = sizeof shielded;
  check(scute_shield_info(pool, &shielded), args.path);
  if (args.json) {
    json document = geometry_json(args.path, info);
    add_session_json(document, info);
    document["protects"] = shielded.size == 0 ? json() : json(shielded.file);
    document["protected_bytes"] = shielded.size;
    document["capacity"] = shielded.capacity;
    document["events"] = events.size();
    document["last_event"] = events.empty() ? json() : event_json(events.back());
    print_json(document);
  } else {
    fact_sheet facts = geometry_facts(args.path, info);
    if (shielded.size != 0) {
      facts.add("protects",
                fmt::format("{}, {}; it may grow to {}", shielded.file,
                            exact_size_text(shielded.size), exact_size_text(shielded.capacity)));
      if (shielded.guard != 0)
        facts.add("guarded", "its permissions are taken away until `scute shield remove`");
    }
    add_session_facts(facts, info);
    facts.add("events", events_text(events));
    facts.print();
  }
}

}  // namespace

void add_info(CLI::App& root, exit_code&) {
  CLI::App* app =
      root.add_subcommand("info", "Show a pool's geometry, and the choices with their reasons");
  auto args = std::make_shared<info_arguments>();
  add_pool_path(*app, args->path);
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  app->footer(
      "Opens the pool read-only: a pool that needs recovery is recovered in private memory and "
      "the\n"
      "file stays as it is.\n"
      "\nExamples:\n"
      "  scute info /dev/shm/notes.pool\n"
      "  scute info /dev/shm/notes.pool --json | jq .overhead_percent");
  app->callback([args] { run_info(*args); });
}

}  // namespace scute_tool

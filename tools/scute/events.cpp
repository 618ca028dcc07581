// SPDX-License-Identifier: BSD-3-Clause
// events.cpp: scute events PATH: what was found damaged in a pool, when, and what became of it.
#include "command.hpp"
#include "event_list.hpp"
#include "failure.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <memory>

namespace scute_tool {

namespace {

struct events_arguments {
  std::string path;
  pool_options options;
  std::string since;
  std::string kind;
  bool json = false;
};

constexpr scute_event_kind all_kinds[] = {
    SCUTE_EVENT_PAGE, SCUTE_EVENT_OBJECT, SCUTE_EVENT_STRUCTURE, SCUTE_EVENT_SUPERBLOCK,
    SCUTE_EVENT_LOG,  SCUTE_EVENT_PARITY, SCUTE_EVENT_FREE};

std::vector<std::string> event_kinds() {
  std::vector<std::string> names;
  for (const scute_event_kind kind : all_kinds) names.push_back(name_of(kind));
  return names;
}

// 90s, 15m, 24h, 7d; in nanoseconds.
uint64_t parse_duration(const std::string& text) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const uint64_t seconds = unit == "s"   ? 1
                           : unit == "m" ? 60
                           : unit == "h" ? 3600
                           : unit == "d" ? 86400
                                         : 0;
  if (error != std::errc{} || seconds == 0 || n > UINT64_MAX / 1'000'000'000 / seconds)
    throw failure(exit_error, "--since " + text,
                  "a duration is a number and s, m, h or d, such as 24h");
  return n * seconds * 1'000'000'000;
}

std::string place_of(const scute_event& e) {
  return fmt::format("{:#014x} +{}", e.offset, e.length);
}

void print_text(const std::vector<scute_event>& events) {
  if (events.empty()) {
    fmt::print("no events\n");
    return;
  }
  table lines(
      {{"time"}, {"kind"}, {"outcome"}, {"found by"}, {"place"}, {"object"}, {"count", true}});
  uint64_t dropped = 0;
  for (const scute_event& e : events) {
    lines.add({time_text(e.time_ns), name_of(e.kind), name_of(e.outcome), name_of(e.finder),
               place_of(e),
               e.object == SCUTE_OID_NULL ? "-" : fmt::format("{:#014x}", offset_of(e.object)),
               count_text(e.count)});
    dropped += e.dropped;
  }
  lines.print("");
  if (dropped != 0) fmt::print("{} further events came too fast to be kept\n", count_text(dropped));
}

void print_as_json(const std::string& path, const std::vector<scute_event>& events) {
  json list = json::array();
  for (const scute_event& e : events) list.push_back(event_json(e));
  print_json({{"path", path}, {"events", std::move(list)}});
}

void run_events(const events_arguments& args) {
  uint64_t from = 0;
  if (!args.since.empty()) {
    const uint64_t ago = parse_duration(args.since);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t now_ns =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    from = now_ns > ago ? now_ns - ago : 0;
  }
  const open_pool pool(args.path, args.options.resolve(), open_pool::how::open_to_read);
  std::vector<scute_event> wanted;
  for (const scute_event& e : list_events(pool))
    if (e.time_ns >= from && (args.kind.empty() || args.kind == name_of(e.kind)))
      wanted.push_back(e);
  if (args.json)
    print_as_json(args.path, wanted);
  else
    print_text(wanted);
}

}  // namespace

void add_events(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("events", "Show the damage that was found, and its outcome");
  auto args = std::make_shared<events_arguments>();
  add_pool_path(*app, args->path);
  app->add_option("--since", args->since, "only the last 90s, 15m, 24h or 7d")
      ->type_name("DURATION");
  app->add_option("--kind", args->kind, "only events of this kind")
      ->check(one_of(event_kinds()))
      ->type_name("page|object|structure|superblock|log|parity|free");
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  app->footer(
      "The pool keeps its last 48 events. Opens the pool read-only; damage that this opening "
      "itself finds\n"
      "and repairs in private memory is not among them (see `scute check`).\n"
      "\nExamples:\n"
      "  scute events /dev/shm/notes.pool\n"
      "  scute events notes.pool --since 24h --kind object --json | jq '.events[].outcome'");
  app->callback([args] { run_events(*args); });
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
// scrub.cpp: scute scrub PATH [--threads N] [--rate BYTES] [--restart]
#include "command.hpp"
#include "failure.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "page_losses.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace scute_tool {

namespace {

struct scrub_arguments {
  std::string path;
  pool_options options;
  uint32_t threads = 0;
  uint64_t rate = 0;
  bool restart = false;
  bool json = false;
  bool quiet = false;
};

// Stops the scrub when a signal asks for it.
class stopper {
 public:
  stopper(const interrupt& signals, const scute::pool& pool) : over_(eventfd(0, EFD_CLOEXEC)) {
    if (over_ < 0) throw failure(exit_error, "eventfd", "no file descriptor is left");
    thread_ = std::thread([this, &signals, &pool] {
      pollfd wake[2] = {{signals.wake_fd(), POLLIN, 0}, {over_, POLLIN, 0}};
      while (poll(wake, 2, -1) < 0) {
      }
      if (wake[0].revents != 0) pool.stop_scrub();
    });
  }
  ~stopper() {
    eventfd_write(over_, 1);
    thread_.join();
    close(over_);
  }
  stopper(const stopper&) = delete;
  stopper& operator=(const stopper&) = delete;

 private:
  int over_;
  std::thread thread_;
};

struct outcome {
  scute_report report{};
  std::vector<scute_zone_report> zones;
  json findings = json::array();
  uint64_t repaired_at_open = 0;
  uint64_t records_lost = 0;         // of the log, as opening has found
  uint64_t repaired_by_reading = 0;  // lost pages that came back when the scrub read them
  uint64_t lost_with_pages = 0;      // objects
  uint64_t position = 0;             // where the next run continues
  uint64_t resumed = 0;              // where this one did
  uint64_t size = 0;
};

// Repairs by opening the pool, or by reading it, count as damage too.
exit_code result_code(const outcome& o) {
  if (o.report.lost + o.records_lost + o.lost_with_pages > 0) return exit_lost;
  return o.report.damaged + o.repaired_at_open + o.repaired_by_reading > 0 ? exit_damaged : exit_ok;
}

const char* result_text(const outcome& o, exit_code code) {
  if (o.report.complete == 0) return "stopped";
  if (code == exit_lost) return "data is lost";
  return code == exit_damaged ? "repaired" : "clean";
}

std::string throughput_text(const scute_report& r) {
  const double seconds = static_cast<double>(r.elapsed_ns) / 1e9;
  if (seconds <= 0) return size_text(r.bytes) + "/s";
  return size_text(static_cast<uint64_t>(static_cast<double>(r.bytes) / seconds)) + "/s";
}

void print_zone(const scute_zone_report& z) {
  fmt::print("zone {}: {} read, {} objects", z.zone, size_text(z.bytes), count_text(z.objects));
  if (z.damaged == 0)
    fmt::print(", no damage\n");
  else
    fmt::print(", {} damaged, {} repaired, {} lost\n", count_text(z.damaged),
               count_text(z.repaired), count_text(z.lost));
  std::fflush(stdout);
}

void print_summary(const outcome& o, const char* result) {
  const scute_report& r = o.report;
  fact_sheet facts;
  facts.add("objects",
            fmt::format("{} with {}", count_text(r.objects), exact_size_text(r.object_bytes)));
  facts.add("read", fmt::format("{} in {}, {}", exact_size_text(r.bytes),
                                duration_text(static_cast<double>(r.elapsed_ns) / 1e9),
                                throughput_text(r)));
  if (o.resumed > 0) facts.add("continued from", size_text(o.resumed));
  if (o.repaired_at_open > 0) facts.add("repaired by opening", count_text(o.repaired_at_open));
  if (o.records_lost > 0) facts.add("log records lost", count_text(o.records_lost));
  if (o.repaired_by_reading > 0)
    facts.add("repaired by reading", count_text(o.repaired_by_reading));
  if (o.lost_with_pages > 0) facts.add("lost with pages", count_text(o.lost_with_pages));
  facts.add("damaged", count_text(r.damaged));
  facts.add("repaired", count_text(r.repaired));
  facts.add("lost", count_text(r.lost));
  facts.add("result", result);
  facts.print();
  if (r.complete == 0)
    fmt::print("The next `scute scrub` continues from here ({} of {}).\n", size_text(o.position),
               size_text(o.size));
}

void print_result_json(const std::string& path, const outcome& o, const char* result) {
  json zones = json::array();
  for (const scute_zone_report& z : o.zones)
    zones.push_back({{"zone", z.zone},
                     {"bytes", z.bytes},
                     {"objects", z.objects},
                     {"object_bytes", z.object_bytes},
                     {"damaged", z.damaged},
                     {"repaired", z.repaired},
                     {"lost", z.lost}});
  const scute_report& r = o.report;
  print_json({{"path", path},
              {"complete", r.complete != 0},
              {"objects", r.objects},
              {"object_bytes", r.object_bytes},
              {"bytes", r.bytes},
              {"elapsed_ns", r.elapsed_ns},
              {"resumed_at", o.resumed},
              {"position", o.position},
              {"repaired_at_open", o.repaired_at_open},
              {"repaired_by_reading", o.repaired_by_reading},
              {"log_records_lost", o.records_lost},
              {"objects_lost_with_pages", o.lost_with_pages},
              {"damaged", r.damaged},
              {"repaired", r.repaired},
              {"lost", r.lost},
              {"result", result},
              {"zones", std::move(zones)},
              {"findings", o.findings}});
}

exit_code run_scrub(const scrub_arguments& args) {
  progress bar(args.quiet);
  scute::options options = args.options.resolve();
  options.progress = bar.callback();
  outcome o;
  bool opening = true;
  page_losses with_pages;
  options.event = [&](const scute_event& e) {
    with_pages.see(e, opening);
    if (opening && e.kind == SCUTE_EVENT_LOG && e.outcome == SCUTE_OUTCOME_LOST)
      o.records_lost += e.count;
  };
  open_pool pool(args.path, options, open_pool::how::open_to_write);

  // Recovery first: the damage that it finds and repairs counts as well.
  working_on(args.path, [&] { pool.pool().wait_for_recovery(bar.callback()); });
  opening = false;
  const scute_info before = pool.info();
  if ((before.flags & SCUTE_READONLY) != 0)
    throw failure(exit_error, args.path,
                  "a scrub repairs, but SCUTE_READONLY forbids changes; use `scute check`");
  o.repaired_at_open = before.repaired;
  o.size = before.zone_size * before.zone_count;
  o.resumed = args.restart ? 0 : before.scrub_position;

  scute::scrub_options how;
  how.threads = args.threads;
  how.rate = args.rate;
  how.resume = !args.restart;
  const interrupt signals;
  how.progress = [&](std::string_view what, uint64_t done, uint64_t total) {
    if (signals.requested()) pool.pool().stop_scrub();  // it came before the scrub had begun
    bar.update(std::string(what), done, total);
  };
  how.finding = [&](std::string_view what, uint64_t offset, uint64_t length, scute_oid object,
                    bool repaired) {
    json entry{{"what", what}, {"offset", offset}, {"length", length}};
    entry["object"] = object == SCUTE_OID_NULL ? json() : json(offset_of(object));
    entry["repaired"] = repaired;
    o.findings.push_back(std::move(entry));
    if (args.json) return;
    bar.finish();
    fmt::print("{}: {} at {:#x}, {} bytes", repaired ? "repaired" : "lost", what, offset, length);
    if (object != SCUTE_OID_NULL) fmt::print(", object {:#x}", offset_of(object));
    fmt::print("\n");
  };
  how.zone = [&](const scute_zone_report& z) {
    o.zones.push_back(z);
    if (args.json) return;
    bar.finish();
    print_zone(z);
  };
  {
    const stopper stop(signals, pool.pool());
    o.report = working_on(args.path, [&] { return pool.pool().scrub(how); });
  }
  bar.finish();
  const scute_info after = pool.info();
  o.position = after.scrub_position;
  o.repaired_by_reading = after.pages_repaired - before.pages_repaired;
  o.lost_with_pages = with_pages.objects(after);
  pool.close();

  const exit_code code = result_code(o);
  const char* result = result_text(o, code);
  if (args.json)
    print_result_json(args.path, o, result);
  else
    print_summary(o, result);
  return o.report.complete == 0 && signals.requested() ? signals.code() : code;
}

}  // namespace

void add_scrub(CLI::App& root, exit_code& status) {
  CLI::App* app =
      root.add_subcommand("scrub", "Verify and repair a whole pool, in parallel, resumably");
  auto args = std::make_shared<scrub_arguments>();
  add_pool_path(*app, args->path);
  app->add_option("--threads", args->threads, "number of reading threads; 0: one per CPU")
      ->transform(whole_number(0, 1024))
      ->type_name("N");
  app->add_option("--rate", args->rate, "bytes to read per second at most (500M)")
      ->transform(size_value())
      ->type_name("SIZE");
  app->add_flag("--restart", args->restart,
                "start at the beginning, even if a scrub was interrupted");
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "Verifies structures, objects, logs and parity, and repairs what the redundancy allows.\n"
      "SIGINT and SIGTERM stop it; the next scrub continues from there. A running program scrubs "
      "its\n"
      "own pool with scute_scrub() or the policy scrub:N.\n"
      "Exit status: 0 clean; 2 damage was found and is repaired; 3 data is lost; 130, 143 "
      "stopped;\n"
      "others as in `scute --help`.\n"
      "\nExamples:\n"
      "  scute scrub /dev/shm/notes.pool\n"
      "  scute scrub /mnt/pmem/shop.pool --threads 2 --rate 500M");
  app->callback([args, &status] { status = run_scrub(*args); });
}

}  // namespace scute_tool

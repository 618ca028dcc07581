// SPDX-License-Identifier: BSD-3-Clause
#include "shielded_program.hpp"

#include "failure.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "standard_streams.hpp"

#include <csignal>
#include <numeric>
#include <utility>

namespace scute_tool {

namespace {

// Places and lines of a view come before its counts.
struct listener {
  program_notice& noticed;
  view_counts next{};
};

listener& listener_of(void* arg) {
  return *static_cast<listener*>(arg);
}

void keep(void* arg, const scute_shield_counts* counts) {
  listener& to = listener_of(arg);
  to.next.file = counts->file;
  to.next.unreported_objects = counts->unreported_objects;
  to.next.counts = *counts;
  to.noticed.views.push_back(std::exchange(to.next, {}));
}

void keep_site(void* arg, const scute_shield_site_counts* site) {
  listener_of(arg).next.sites.push_back({site->source, site->function, *site});
}

void keep_finding(void* arg, const scute_shield_finding* f) {
  listener_of(arg).next.findings.push_back({f->stored_source, f->flushed_source, *f});
}

void report_failure(void*, const char* file, const char* why) {
  print_error("scute: {}: {}\n", file, why);
}

// A user who wrongly takes a file for protected would find out when it is too late.
void require_shielded(const std::string& file) {
  scute_shield_condition condition{};
  scute_shield_state state{};
  state.struct_size = sizeof state;
  const int result = scute_shield_look(failure::library_path(file).c_str(), &condition, &state);
  if (result == SCUTE_E_NOENT)
    throw failure(exit_error, file,
                  "it is not shielded, so the program was not started; shield it with `scute "
                  "shield add`, or restore its FILE.scute next to it");
  check(result, file);
  if (condition == SCUTE_SHIELD_MISSING)
    throw failure(exit_error, file, "it is missing, so the program was not started");
  if (condition == SCUTE_SHIELD_CHANGED)
    throw failure(
        exit_error, file,
        "it was changed without Scute, so the program was not started; see `scute shield check`");
}

std::string joined(const std::vector<std::string>& names) {
  return std::accumulate(names.begin(), names.end(), std::string(),
                         [](std::string all, const std::string& name) {
                           return std::move(all) + (all.empty() ? "" : ":") + name;
                         });
}

}  // namespace

void shielded_program::add_to(CLI::App& app) {
  app.add_option("PROGRAM", words, "the program, and its arguments")->required();
  app.add_option("--windows", windows,
                 "pmemobj: a transaction or atomic call of libpmemobj is one commit; off: every "
                 "fence is one")
      ->transform(one_of({"pmemobj", "off"}))
      ->type_name("pmemobj|off");
  app.add_option(
         "--unflushed", unflushed,
         "bytes that were never flushed: keep them as an unshielded program would, or drop them")
      ->transform(one_of({"keep", "drop"}))
      ->type_name("keep|drop");
  app.add_option("--strays", strays,
                 "lines that changed without a reported store (scute-cc -fscute=detect): report "
                 "them, stop the program before the file has them, or ignore them; by default they "
                 "are reported if all code of the program reports its stores")
      ->transform(one_of({"report", "stop", "ignore"}))
      ->type_name("report|stop|ignore");
  app.add_option("--max-memory", memory,
                 "memory that the views of a process may take, such as 2G; none: no limit; by "
                 "default the memory that is available")
      ->transform([](std::string text) {
        static const CLI::Validator size = size_value();
        if (text == "none") return std::to_string(UINT64_MAX);
        if (std::string wrong = size(text); !wrong.empty()) throw CLI::ValidationError(wrong);
        return text;
      })
      ->type_name("SIZE|none");
  CLI::Option* const folder =
      app.add_option("--view-dir", views,
                     "keep views in unnamed files in this folder, for files larger than the "
                     "machine's memory; by default views lie in memory")
          ->check(CLI::ExistingDirectory)
          ->type_name("DIR");
  CLI::Option* const by_touch = app.add_flag(
      "--page-in", page_in,
      "read and verify a page when the program touches it, not all of the file when it is "
      "opened; needs userfaultfd, and is not for programs that use the file by io_uring");
  app.add_flag("--huge-pages", huge_pages,
               "keep views in pages of 2 MiB, where Linux grants them; each file then takes memory "
               "for its whole size, holes included")
      ->excludes(by_touch)
      ->excludes(folder);
  app.add_option("--allow-inline-flush", allowed,
                 "a library or program whose own flush instructions are allowed, since they flush "
                 "no shielded file")
      ->type_name("OBJECT")
      ->allow_extra_args(false);
  app.add_option("--require", required,
                 "a file that must be shielded, or the program is not started")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--runtime", runtime, "libscute-shield.so, if it is not where it was installed")
      ->type_name("PATH");
  app.positionals_at_end();
}

scute_shield_outcome shielded_program::run(program_notice& noticed) const {
  for (const std::string& file : required) require_shielded(file);
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  const std::string allow = joined(allowed);
  scute_shield_run_options options;
  scute_shield_run_options_init(&options);
  options.runtime = runtime.empty() ? nullptr : runtime.c_str();
  options.allow = allow.empty() ? nullptr : allow.c_str();
  if (windows == "off") options.flags |= SCUTE_SHIELD_NO_WINDOWS;
  if (unflushed == "drop") options.flags |= SCUTE_SHIELD_DROP_UNFLUSHED;
  if (!memory.empty()) options.memory = std::stoull(memory);
  if (page_in) options.flags |= SCUTE_SHIELD_PAGE_IN;
  if (huge_pages) options.flags |= SCUTE_SHIELD_HUGE_PAGES;
  if (!views.empty()) options.view_folder = views.c_str();
  if (strays == "report") options.flags |= SCUTE_SHIELD_REPORT_STRAYS;
  if (strays == "stop") options.flags |= SCUTE_SHIELD_STOP_STRAYS;
  if (strays == "ignore") options.flags |= SCUTE_SHIELD_IGNORE_STRAYS;
  options.audit = keep;
  if (sites) {
    options.site = keep_site;
    options.finding = keep_finding;
  }
  options.failed = report_failure;
  listener to{noticed};
  options.arg = &to;
  scute_shield_outcome outcome{};
  outcome.struct_size = sizeof outcome;
  check(scute_shield_run(argv.data(), &options, &outcome), words.front());
  std::signal(SIGPIPE, SIG_IGN);  // the program's status is what counts
  return outcome;
}

int status_of(const scute_shield_outcome& outcome) {
  constexpr int killed = 128;
  return outcome.how == SCUTE_SHIELD_EXITED ? outcome.value : killed + outcome.value;
}

}  // namespace scute_tool

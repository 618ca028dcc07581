// SPDX-License-Identifier: BSD-3-Clause
#include "load_flags.hpp"

#include "numbers.hpp"
#include "output.hpp"
#include "standard_streams.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace scute_tool {

void load_flags::add_to(CLI::App& app, const std::string& unit) {
  app.add_option("FILE", file, "the source; - is standard input")->required()->type_name("");
  app.add_option("--format", format,
                 "form of the records (default json for .jsonl, .ndjson, .json, else tsv)")
      ->check(one_of({"tsv", "json"}))
      ->type_name("tsv|json");
  app.add_option("--batch", batch, "records per " + unit + " (default 100)")
      ->transform(whole_number(1, 1000000))
      ->type_name("N");
  app.add_option("--name", name,
                 "name of the source, for resuming (default its path; for standard input and "
                 "pipes, their first record)")
      ->type_name("NAME");
  app.add_flag("--restart", restart, "load from the start again");
  add_json_flag(app, json);
  add_quiet_flag(app, quiet);
}

load_plan load_flags::plan(const std::string& path, line_source& from) const {
  const std::string extension = std::filesystem::path(file).extension();
  const bool lines_are_json =
      format.empty() ? extension == ".jsonl" || extension == ".json" || extension == ".ndjson"
                     : format == "json";
  std::string first;
  from.peek(lines_are_json, first);
  return {.pool = path,
          .source = source_name(from, first),
          .format = lines_are_json ? record_format::json : record_format::tsv,
          .batch = batch,
          .restart = restart};
}

std::string load_flags::source_name(const line_source& from, std::string_view first) const {
  if (!name.empty()) return name;
  if (!from.is_file()) return fmt::format("-#{:016x}", hash_of(first));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::canonical(file, error);
  return error ? file : absolute.string();
}

std::string load_flags::resume_command(const std::string& command, const std::string& path) const {
  std::string text = fmt::format("{} {} {}", command, path, file);
  if (!name.empty()) text += " --name " + name;
  if (!format.empty()) text += " --format " + format;
  return text;
}

exit_code load_flags::run(const std::string& command, const std::string& path, record_sink& to,
                          line_source& source, const interrupt& stop, progress& bar,
                          const std::function<void()>& close) const {
  const load_plan how = plan(path, source);
  const load_result result = load(to, source, how, stop, bar);
  bar.finish();
  close();
  print_summary(how, result);
  if (!result.interrupted) return exit_ok;
  print_error("scute: {}: interrupted after {} records; to continue there: {}\n", path,
              result.state.records, resume_command(command, path));
  return stop.code();
}

void load_flags::print_summary(const load_plan& plan, const load_result& result) const {
  if (json) {
    print_json({{"path", plan.pool},
                {"source", plan.source},
                {"resumed_at", result.resumed_at},
                {"loaded", result.loaded},
                {"added", result.added},
                {"replaced", result.loaded - result.added},
                {"records", result.state.records},
                {"offset", result.state.position.offset},
                {"transactions", result.transactions},
                {"seconds", result.seconds},
                {"complete", !result.interrupted}});
    return;
  }
  if (result.resumed_at > 0)
    fmt::print("resumed after {} records\n", count_text(result.resumed_at));
  fmt::print("loaded {} records ({} new, {} replaced) in {} transactions, {}\n",
             count_text(result.loaded), count_text(result.added),
             count_text(result.loaded - result.added), count_text(result.transactions),
             duration_text(result.seconds));
}

}  // namespace scute_tool

// SPDX-License-Identifier: BSD-3-Clause
#include "shielded_program.hpp"

#include "failure.hpp"
#include "output.hpp"
#include "standard_streams.hpp"

#include <numeric>

namespace scute_tool {

namespace {

void keep(void* arg, const scute_shield_counts* counts) {
  static_cast<std::vector<view_counts>*>(arg)->push_back({counts->file, *counts});
}

void tell_failure(void*, const char* file, const char* why) {
  tell("scute: {}: {}\n", file, why);
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
  app.add_option("--unflushed", unflushed,
                 "what was never flushed: keep it as an unshielded program would, or drop it")
      ->transform(one_of({"keep", "drop"}))
      ->type_name("keep|drop");
  app.add_option("--allow-inline-flush", allowed,
                 "a library or program that may flush by itself, since it does not flush shielded "
                 "files")
      ->type_name("OBJECT")
      ->allow_extra_args(false);
  app.add_option("--runtime", runtime, "libscute-shield.so, if it is not where it was installed")
      ->type_name("PATH");
  app.positionals_at_end();
}

scute_shield_outcome shielded_program::run(std::vector<view_counts>& counts) const {
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
  options.audit = keep;
  options.failed = tell_failure;
  options.arg = &counts;
  scute_shield_outcome outcome{};
  outcome.struct_size = sizeof outcome;
  check(scute_shield_run(argv.data(), &options, &outcome), words.front());
  return outcome;
}

int status_of(const scute_shield_outcome& outcome) {
  constexpr int killed = 128;
  return outcome.how == SCUTE_SHIELD_EXITED ? outcome.value : killed + outcome.value;
}

}  // namespace scute_tool

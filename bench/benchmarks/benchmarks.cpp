// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/benchmarks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "benchmarks/pow_benchmarks.hpp"

namespace scute::bench {

progress::~progress() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void progress::step(const std::string& what) {
  terminal_ = ::isatty(STDERR_FILENO) == 1;
  ++done_;
  fmt::print(stderr, "{}[{}/{}] {}{}", terminal_ ? "\r\033[K" : "", done_, steps_, what,
             terminal_ ? "" : "\n");
  std::fflush(stderr);
}

std::string session::path(const std::string& name) const {
  return fmt::format("{}/scute-bench.{}.{}", o.dir, ::getpid(), name);
}

const std::vector<benchmark_group>& benchmark_groups() {
  static const std::vector<benchmark_group> groups{
      object_benchmarks(),      hot_benchmark(),       map_benchmarks(),
      table3_benchmark(),       ycsb_benchmarks(),     durable_benchmark(),
      load_benchmark(),         open_benchmarks(),     full_log_benchmark(),
      check_benchmark(),        scrub_benchmark(),     recovery_benchmark(),
      lost_page_benchmark(),    policy_benchmark(),    stages_benchmark(),
      stamp_benchmarks(),       stamp_cap_benchmark(), ents_benchmarks(),
      ents_level_benchmarks(),  eadr_benchmark(),      pow_clean_benchmark(),
      pow_recovery_benchmark(), kernel_benchmarks(),   log_append_benchmark()};
  return groups;
}

}  // namespace scute::bench

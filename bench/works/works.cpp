// SPDX-License-Identifier: BSD-3-Clause
#include "works/works.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "works/pow_works.hpp"

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

const std::vector<work_group>& work_groups() {
  static const std::vector<work_group> groups{
      object_works(),   hot_work(),          map_works(),      table3_work(),      ycsb_works(),
      durable_work(),   load_work(),         open_works(),     full_log_work(),    check_work(),
      scrub_work(),     recovery_work(),     lost_page_work(), policy_work(),      stages_work(),
      stamp_works(),    stamp_cap_work(),    ents_works(),     ents_level_works(), eadr_work(),
      pow_clean_work(), pow_recovery_work(), kernel_works(),   log_append_work()};
  return groups;
}

}  // namespace scute::bench

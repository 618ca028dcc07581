// SPDX-License-Identifier: BSD-3-Clause
#include "scute/shield_run.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "c_api/pool/guard.hpp"
#include "shield/supervisor/supervisor.hpp"

using namespace scute::core;

extern "C" {

void scute_shield_run_options_init(scute_shield_run_options* options) {
  if (options == nullptr) return;
  std::memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
}

int scute_shield_run(const char* const* argv, const scute_shield_run_options* options,
                     scute_shield_outcome* outcome) {
  return c_api::guarded([&] {
    if (argv == nullptr || argv[0] == nullptr)
      throw failure(SCUTE_E_INVALID, "argv names no program");
    scute_shield_run_options o;
    scute_shield_run_options_init(&o);
    if (options != nullptr) {
      if (options->struct_size < offsetof(scute_shield_run_options, audit) ||
          options->struct_size > size_t{4} * sizeof o)
        throw failure(
            SCUTE_E_INVALID,
            "options->struct_size is not set; call scute_shield_run_options_init() on them first");
      std::memcpy(&o, options, std::min(options->struct_size, sizeof o));
    }
    constexpr uint32_t strays =
        SCUTE_SHIELD_REPORT_STRAYS | SCUTE_SHIELD_STOP_STRAYS | SCUTE_SHIELD_IGNORE_STRAYS;
    constexpr uint32_t known = SCUTE_SHIELD_NO_WINDOWS | SCUTE_SHIELD_DROP_UNFLUSHED |
                               SCUTE_SHIELD_PAGE_IN | SCUTE_SHIELD_HUGE_PAGES | strays;
    if ((o.flags & ~known) != 0) throw failure(SCUTE_E_INVALID, "options->flags has unknown bits");
    if (std::popcount(o.flags & strays) > 1)
      throw failure(SCUTE_E_INVALID, "options->flags has two ways to treat strays; choose one");
    if ((o.flags & SCUTE_SHIELD_HUGE_PAGES) != 0 &&
        ((o.flags & SCUTE_SHIELD_PAGE_IN) != 0 || o.view_folder != nullptr))
      throw failure(SCUTE_E_INVALID,
                    "huge pages are for views in memory that are read when a file is opened");
    if (outcome != nullptr && (outcome->struct_size < sizeof(size_t) ||
                               outcome->struct_size > size_t{4} * sizeof *outcome))
      throw failure(SCUTE_E_INVALID, "outcome->struct_size is not set");
    scute_shield_outcome now = supervisor::supervisor(o).run(argv);
    if (outcome == nullptr) return;
    now.struct_size = outcome->struct_size;
    std::memcpy(outcome, &now, std::min(outcome->struct_size, sizeof now));
  });
}

}  // extern "C"

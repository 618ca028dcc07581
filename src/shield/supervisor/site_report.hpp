// SPDX-License-Identifier: BSD-3-Clause
// Reports the audit of a view, by places in the program's source, to the caller that has run the
// program.
#pragma once

#include <cstdint>
#include <string>

#include "scute/shield_run.h"
#include "shield/supervisor/crash_writeback.hpp"

namespace scute::core::supervisor {

// Reports nothing if the view was opened without an audit by source location. Returns the names of
// objects whose stores are not instrumented.
std::string report_sites(const held_view& view, uint32_t process,
                         const scute_shield_run_options& options, scute_shield_counts& counts);

}  // namespace scute::core::supervisor

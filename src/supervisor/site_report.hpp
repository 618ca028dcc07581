// SPDX-License-Identifier: BSD-3-Clause
// What the audit of a view has by places in the program's source is told to whoever has run it.
#pragma once

#include <cstdint>
#include <string>

#include "scute/shield_run.h"
#include "supervisor/crash_writeback.hpp"

namespace scute::core::supervisor {

// Nothing is told if the view has none. Returns the names of objects whose stores nobody tells of.
std::string report_sites(const held_view& view, uint32_t process,
                         const scute_shield_run_options& options, scute_shield_counts& counts);

}  // namespace scute::core::supervisor

// SPDX-License-Identifier: BSD-3-Clause
// Reads an open file completely and compares it with the state in memory: every record that an
// entry points to is present, in all its copies, and the numbers of records are right (POW-6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pow/recovery/scan.hpp"

namespace scute::core::pow {

struct check_report {
  uint64_t frames = 0, records = 0;
  std::vector<damage_note> damage;
  std::vector<damage_note> changed;  // objects that differ from what was written
};

struct check_options {
  bool repair = false;   // wrong copies are repaired
  bool compare = false;  // also compares the serializers' objects
  progress_fn progress;  // segments
};

// The caller holds the state's clean_lock; no section is open meanwhile.
check_report check_file(state& s, const check_options& options);

}  // namespace scute::core::pow

// SPDX-License-Identifier: BSD-3-Clause
// Reads all of an open file again, and holds it against what is known in memory: every record that
// an entry points to is there, in all its copies, and there are as many as are counted (POW-6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pow/scan.hpp"

namespace scute::core::pow {

struct check_report {
  uint64_t frames = 0, records = 0;
  std::vector<damage_note> damage;
  std::vector<damage_note> changed;  // objects that are not what was written of them
};

struct check_options {
  bool repair = false;   // wrong copies are repaired
  bool compare = false;  // the serializers' objects, too
  progress_fn progress;  // segments
};

// With the state's clean_lock; no section is open meanwhile.
check_report check_file(state& s, const check_options& options);

}  // namespace scute::core::pow

// SPDX-License-Identifier: BSD-3-Clause
// One exploration of one scenario with one planted bug, in a process of its own: a bug may well end
// the process, or make it run for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "planted/planted.hpp"
#include "scenarios/catalogue.hpp"

namespace scute {
using namespace core;

struct attempt {
  planted::description bug;
  const explore::entry* scenario;
  uint64_t states;
  unsigned seconds_max;  // of a processor
};

struct outcome {
  bool caught = false;
  bool died = false;      // by an assertion or a signal, which is noticed as well
  bool asserted = false;  // died by an assertion
  // Nothing was finished any more, or the time was over. It is unknown whether the bug is the
  // reason: a suite without a time limit of its own, such as the explorer's, would not notice.
  bool hung = false;
  double seconds = 0;
  uint64_t states = 0;  // verified; of a process that died, those that it may have verified
  std::string story;
};

// Runs two attempts at a time. Reports the outcomes in the order of the attempts; if `report`
// returns false, the rest are dropped.
void run_attempts(const std::vector<attempt>& all,
                  const std::function<bool(const attempt&, const outcome&)>& report);

}  // namespace scute

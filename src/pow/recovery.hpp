// SPDX-License-Identifier: BSD-3-Clause
// Opening a file: reads it (pow/scan.hpp), decides (pow/decision.hpp), and makes it a file that may be written.
//
//   1  the newest head page is in all three places
//   2  everything is read; nothing is written
//   3  what may not be durable is written back, copies that are wrong are put right, torn heads are made void  (POW-9)
//   4  the decision, and the number of the new session, are in the head page: from here on it is as it will be
//   5  segments with batches that do not count are copied and made void, so that nothing dropped is left     (POW-8)
//
// A crash in 1 to 3 begins anew; behind 4 the head page says what counts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pow/scan.hpp"

namespace scute::core::pow {

struct recovery_report {
  uint64_t records = 0, batches_dropped = 0, repaired = 0, lost = 0;
  std::vector<damage_note> damage;
};

struct recovery_wish {
  bool salvage =
      false;  // what is lost is told, and the rest is there; otherwise nothing is changed, and it fails
  uint32_t threads = 1;
  progress_fn progress;
};

// s has its medium, head, layout and space, and nothing else yet. Throws failure: SCUTE_E_CORRUPT with what is lost.
recovery_report recover(state& s, const recovery_wish& wish);

}  // namespace scute::core::pow

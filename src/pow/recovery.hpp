// SPDX-License-Identifier: BSD-3-Clause
// Opening a file: reads it (pow/scan.hpp), decides (pow/decision.hpp), and makes it a file that may
// be written.
//
//   1  the newest head page is in all three places
//   2  everything is read; nothing is written
//   3  bytes that may not be durable are written back, wrong copies are repaired, torn heads are
//      made void (POW-9)
//   4  the decision, and the number of the new session, are in the head page: from here on it is as
//      it will be
//   5  segments with batches that do not count are copied and made void, so that no dropped batch
//      is left (POW-8)
//
// After a crash in 1 to 3 recovery begins again; after one in 4 or later the head page says what
// counts.
//
// POW-21 An opening that is killed in 5, however often, leaves as much room as there was. If there
//    is anything to drop, the cleaner's segments in which nothing counts become void first, and
//    only then another segment is taken for copies. At any moment one of these states holds:
//      a victim, and copies of it   Of two records with one version the older one counts, that in
//                                   the victim. So nothing counts in the copies, be they whole,
//                                   torn or a head alone, and the next opening makes them void
//      the victim is void           its copies count, and stay: in the place of the victim
//    Where copies of several victims share a segment, it stays when one of these is void; the
//    others are copied again, and their copies take no more segments than they did (POW-4). Making
//    such a segment void takes no room: nothing is copied, and no mark is written. Marks report
//    batches that may be undecided, and 4 has decided all there are. No batch continues from such a
//    segment into another one. A crash meanwhile leaves its head as it was, or void, or torn, which
//    3 makes void.
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

struct recovery_options {
  // recovery reports losses and opens the rest; otherwise it changes nothing, and fails
  bool salvage = false;
  uint64_t cut_at = UINT64_MAX;  // the file was so long only; store::open() finds it
  uint32_t threads = 1;
  progress_fn progress;
};

// s has its medium, head, layout and space, and nothing else yet. Throws failure: SCUTE_E_CORRUPT
// with what is lost.
recovery_report recover(state& s, const recovery_options& options);

}  // namespace scute::core::pow

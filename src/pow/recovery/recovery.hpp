// SPDX-License-Identifier: BSD-3-Clause
// Opens a file: reads it (pow/recovery/scan.hpp), decides (pow/recovery/decision.hpp), and makes it
// writable.
//
//   1  the newest head page is in all three places
//   2  everything is read; nothing is written
//   3  bytes that may not be durable are written back, wrong copies are repaired, torn heads are
//      made void (POW-9)
//   4  the decision, and the number of the new session, are in the head page: from here on it is
//      final
//   5  segments with batches that do not count are copied and made void, so that no dropped batch
//      is left (POW-8)
//
// After a crash in 1 to 3 recovery begins again; after one in 4 or later the head page says what
// counts.
//
// POW-21 An opening that is killed in 5, however often, leaves as much room as there was. If there
//    is anything to drop, the cleaner's segments in which nothing counts are made void first; only
//    then is another segment taken for copies. At any moment the victim exists, with or without
//    copies, or it is void.
//
// About POW-21:
//
//   victim and copies    Of two records with one version the older one counts, that in the victim.
//                        So nothing counts in the copies, be they complete, torn or only a head,
//                        and the next opening makes them void.
//   victim void          Its copies count, and stay in its place.
//
// If copies of several victims share a segment, it stays when one of these is void. The others are
// copied again, and need no more segments than before (POW-4). Making such a segment void needs no
// room: nothing is copied, and no mark is written. Marks report batches that may be undecided, and
// 4 has decided all. No batch continues from such a segment into another one. A crash meanwhile
// leaves its head unchanged, void, or torn, which 3 makes void.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pow/recovery/scan.hpp"

namespace scute::core::pow {

struct recovery_report {
  uint64_t records = 0, batches_dropped = 0, repaired = 0, lost = 0;
  std::vector<damage_note> damage;
};

struct recovery_options {
  // recovery reports losses and opens the rest; otherwise it changes nothing, and fails
  bool salvage = false;
  uint64_t cut_at = UINT64_MAX;  // the file's length, if it was cut; store::open() finds it
  uint32_t threads = 1;
  progress_fn progress;
};

// s has only its medium, head, layout and space. Throws failure: SCUTE_E_CORRUPT, which says what
// is lost.
recovery_report recover(state& s, const recovery_options& options);

}  // namespace scute::core::pow

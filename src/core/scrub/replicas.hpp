// SPDX-License-Identifier: BSD-3-Clause
// Copies outside of the zones: the superblock's three, and the two replicas of each lane. Also logs
// in chunks; their engine knows which parts count.
//
// REPLICA-1 Only a thread that holds a lane examines it, so that no thread writes its log
//    meanwhile.
// REPLICA-2 Only what counts is compared: log entries of this epoch and status words. An entry that
//    is whole in one replica and not in the other is copied to the other; so is a status word. Both
//    replicas get the same writes, so no newer entry can lie where the copy goes. The rest of a
//    lane is void, and may differ since a crash.
#pragma once

#include "core/scrub/suspect_repair.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::scrub {

// Repairs an engine's log that outlives transactions, if it has one.
void repair_log(pool::state& s, tx::engine& e, bool repair, repair_tally& t,
                const suspect_repairer::finding_fn& report);
void repair_superblocks(pool::state& s, bool repair, repair_tally& t,
                        const suspect_repairer::finding_fn& report);
void repair_lane(pool::state& s, pool::lane& l, bool repair, repair_tally& t,
                 const suspect_repairer::finding_fn& report);

}  // namespace scute::core::scrub

// SPDX-License-Identifier: BSD-3-Clause
// Distinguishes damage from a commit that is running.
//
// A scrub reads data that others write at the same time, without their locks. In the middle of a
// commit an object fails its checksum, and its columns cannot restore it: neither its old nor its
// new bytes need exist as a whole. A thread that is descheduled there may leave it so for long.
//
// CLASSIFY-1 A fragment that fails its checksum is damaged if it has the very same bytes when all
//    transactions that were decided at the first read are applied. Then no thread is writing it,
//    and no log-free commit has its columns open.
// CLASSIFY-2 A further fragment that the object does not use is vouched for by the first one,
//    header and payload. So the first one belongs to the bytes that are read twice.
//
// On CLASSIFY-1: a commit that came in between would have left another header (its tag names the
// transaction), and a transaction verifies a fragment that it opens before it changes it.
// On CLASSIFY-2, found by the demo: during two commits to the first fragment, a further one seemed
// damaged. It was reported as lost, since a fragment that was never written cannot be decoded.
#pragma once

#include "core/scrub/fragment_ref.hpp"

namespace scute::core::scrub {

enum class damage_class { sound, damaged, busy };

// sound: it is valid, or the fragment does not exist (any more). busy: it kept changing, or a
// commit did not end, within the time that is allowed.
damage_class classify(pool::state& s, const fragment_ref& g);

}  // namespace scute::core::scrub

// SPDX-License-Identifier: BSD-3-Clause
// Distinguishes damage from a commit that is running.
//
// A scrub reads what others write at the same time, without their locks. In the middle of a commit
// an object fails its checksum, and its columns do not tell what it should be: both its old and its
// new bytes may be nowhere as a whole. A thread that is put off the CPU there may leave it so for
// long.
//
// CLASSIFY-1 A fragment is damaged if it fails its checksum, and does so with the very same bytes
//    after every lane that had decided a transaction when they were first read has applied it. No
//    thread is writing it then, nor has a log-free commit its columns open. A commit that came in
//    between would have left another header (its tag names the transaction), and a transaction
//    verifies what it opens before it changes it.
// CLASSIFY-2 A further fragment that the object does not use is vouched for by the first one,
//    header and payload: it belongs to what is read twice. (Found by the demo: during two commits
//    to the first fragment, a further one seemed damaged. It was reported as lost, since a
//    fragment that was never written cannot be decoded.)
#pragma once

#include "scrub/fragment_ref.hpp"

namespace scute::core::scrub {

enum class damage_class { sound, damaged, busy };

// sound: it is valid, or there is no such fragment (any more). busy: it kept changing, or a commit
// did not end, for as long as one cares to wait.
damage_class classify(pool::state& s, const fragment_ref& g);

}  // namespace scute::core::scrub

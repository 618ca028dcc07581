// SPDX-License-Identifier: BSD-3-Clause
// Decides about a fragment that a crash of a log-free pool has left in a column that does not add
// up. The decision table of resolution, as data; docs/internals/logfree.md gives the reason of
// each row, and tests/scrub/recovery_decision_test.cpp goes through all of them.
#pragma once

#include <cstdint>

namespace scute::core::engine {

// The fragment's bytes as they lie in the pool.
enum class stored : uint8_t { valid, invalid };
// The bytes that its columns decode to.
enum class decoded : uint8_t {
  same,   // the stored bytes
  other,  // something else that its checksum accepts
  noise   // nothing that it accepts
};
// The ring of the stored header; not looked at unless it matters. `decided`: it is not complete,
// or that is unknown, but leads to a valid member with the same tag whose columns add up (LF-1).
// Of an invalid fragment that header may lead anywhere, except to one with its tag.
enum class ring : uint8_t { complete, broken, decided };

enum class recovery_decision : uint8_t {
  keep,       // not in doubt: the difference in the column is another cell's, or unowned bytes
  roll_back,  // its transaction was not decided: the decoded bytes come back
  finish,     // its transaction was decided: the parity of all members is recomputed
  lost        // damage and crash together are more than the column can tell apart
};

struct decision_row {
  stored kept;
  decoded column;
  ring members;
  recovery_decision what;
};

inline constexpr decision_row decision_table[] = {
    // The parity agrees: a transaction of before the crash that was over, or one whose parity was
    // done.
    {stored::valid, decoded::same, ring::complete, recovery_decision::keep},
    {stored::valid, decoded::same, ring::broken, recovery_decision::keep},
    // The parity still encodes the version before: the data phase may have ended or not.
    {stored::valid, decoded::other, ring::complete, recovery_decision::finish},
    {stored::valid, decoded::other, ring::broken, recovery_decision::roll_back},
    // Damage has broken the ring of a transaction that was decided.
    {stored::valid, decoded::other, ring::decided, recovery_decision::finish},
    // Its transaction's parity is torn, so it was decided; or the column lacks unowned bytes.
    // Either way the stored bytes are the truth, and the parity is recomputed once nothing else
    // explains it.
    {stored::valid, decoded::noise, ring::complete, recovery_decision::keep},
    {stored::valid, decoded::noise, ring::broken, recovery_decision::keep},
    // Torn in a data phase, or damaged; the ring of an invalid header says nothing.
    {stored::invalid, decoded::other, ring::complete, recovery_decision::roll_back},
    {stored::invalid, decoded::other, ring::broken, recovery_decision::roll_back},
    // Damaged after its transaction was decided, and its parity had not followed: the version
    // before must not come back next to a member that has the new version by now.
    {stored::invalid, decoded::other, ring::decided, recovery_decision::lost},
    {stored::invalid, decoded::same, ring::complete, recovery_decision::lost},
    {stored::invalid, decoded::same, ring::broken, recovery_decision::lost},
    {stored::invalid, decoded::noise, ring::complete, recovery_decision::lost},
    {stored::invalid, decoded::noise, ring::broken, recovery_decision::lost},
};

constexpr recovery_decision decision_for(stored kept, decoded column, ring members) noexcept {
  for (const decision_row& r : decision_table)
    if (r.kept == kept && r.column == column && r.members == members) return r.what;
  return recovery_decision::lost;
}

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
// Decides about a fragment that a crash of a log-free pool has left in a column that does not add
// up. This is resolution's decision table, as data. docs/internals/logfree.md gives the reason of
// each row, and tests/scrub/recovery_decision_test.cpp tests all of them.
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
// The ring of the stored header; read only where it matters. `decided`: the ring is not complete,
// or that is unknown, but it leads to a valid member with the same tag whose columns add up (LF-1).
// The header of an invalid fragment may lead anywhere, except to a member with its tag.
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
    // The parity agrees. The transaction was over before the crash, or its parity was written.
    {stored::valid, decoded::same, ring::complete, recovery_decision::keep},
    {stored::valid, decoded::same, ring::broken, recovery_decision::keep},
    // The parity still encodes the version before: the data phase may or may not have ended.
    {stored::valid, decoded::other, ring::complete, recovery_decision::finish},
    {stored::valid, decoded::other, ring::broken, recovery_decision::roll_back},
    // Damage has broken the ring of a decided transaction.
    {stored::valid, decoded::other, ring::decided, recovery_decision::finish},
    // The parity of its transaction is torn, so it was decided; or the column lacks unowned bytes.
    // Either way the stored bytes count, and the parity is recomputed if nothing else explains it.
    {stored::valid, decoded::noise, ring::complete, recovery_decision::keep},
    {stored::valid, decoded::noise, ring::broken, recovery_decision::keep},
    // Torn in a data phase, or damaged; the ring of an invalid header says nothing.
    {stored::invalid, decoded::other, ring::complete, recovery_decision::roll_back},
    {stored::invalid, decoded::other, ring::broken, recovery_decision::roll_back},
    // Damaged after its transaction was decided, and before its parity was written. The version
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

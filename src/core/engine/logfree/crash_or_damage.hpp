// SPDX-License-Identifier: BSD-3-Clause
// After an unclean end of a log-free pool: decides whether a fault that resolution finds is the
// trace of a crash, or damage. The repair is the same (core/engine/logfree/recovery_decision.hpp),
// the report is not. Damage is counted (state::repaired), reported by an event, and sets the exit
// status of `check` and `scrub`. Traces of a crash are only counted, as rolled back or finished.
//
// TRACE-1 Zone descriptors, the root anchor and chunk headers change through a log only, whose
//    replay precedes resolution. One that fails its checksum is damaged.
// TRACE-2 A commit stores a member's header before its payload. So a member that a killed process
//    has torn begins with the new header of its commit (below). A fragment that fails its checksum
//    without such a header is damaged.
// TRACE-3 A valid member that is rolled back, or finished, with its ring was written by a
//    transaction.
// TRACE-4 In-place ranges are stored to before any header. A fragment with bytes in the range of a
//    lane's note (core/shared/in_place_note.hpp) is torn.
// TRACE-5 A column may not add up although no cell in it fails its checksum. It is the trace of a
//    crash if one of its cells has no checksum and a transaction may have been storing there.
// TRACE-6 It is also the trace of a crash if a member of one of a lane's last two transactions in
//    this block and epoch has a cell in it. A lane has one window in its parity phase, and one
//    deferred. Otherwise its parity was damaged, or unused space.
//
// On TRACE-2: such a header has a tag of an unresolved epoch and of a lane that exists. Its tag is
// neither that of the version that comes back, nor older than that in the same lane and epoch. Its
// checksum differs, and it has the form of a header of this fragment. After a power failure the
// lines of one commit may have become durable in any order. So a torn member whose new header is
// missing is reported as damage: its bytes do not show the cause, and to hide damage would be
// worse.
//
// On TRACE-5: a transaction may have been storing prewritten payload, the payload of a new object
// whose header was rolled back, a chunk on its way to a log, or slots of a run that were being
// formatted (ZONE-4). There is no such cell in chunks that were never used (generation 0), in slots
// of a run beyond those that are formatted next, and beyond the last chunk.
//
// TRACE-7 SB-3 (core/shared/pool/superblock.hpp) says what a crash leaves of superblock copies.
#pragma once

#include <algorithm>
#include <vector>

#include "core/shared/fragment.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::engine {

// The parts of a transaction's tag.
inline constexpr uint64_t epoch_mask = 0xffffff;
constexpr uint64_t epoch_of(uint64_t tag) noexcept {
  return tag >> 40;
}
constexpr uint64_t owner_of(uint64_t tag) noexcept {  // epoch and lane
  return tag >> 32;
}
constexpr uint32_t sequence_of(uint64_t tag) noexcept {
  return static_cast<uint32_t>(tag);
}
constexpr uint32_t lane_of(uint64_t tag) noexcept {
  return tag >> 32 & 0xff;
}

class crash_or_damage {
 public:
  // Before any lane of the session is used.
  crash_or_damage(pool::state& s, uint64_t resolved, uint64_t present);

  // f failed its checksum and has been rolled back or repaired. `stored` was its header, `back` is
  // the header of the version that came back. Returns true if the crash tore it; otherwise reports
  // damage.
  bool put_back(const pool::fragment& f, const format::fragment_header& stored,
                const format::fragment_header& back) const noexcept;

  // The parity of the columns of a block for which wrong() holds is about to be recomputed.
  // Reports damage, if there was any.
  template <typename Wrong>
  void will_recompute(uint64_t zone, uint64_t column, uint64_t length, Wrong&& wrong) const {
    const std::vector<bool> open = open_columns(zone, column, length);
    uint64_t first = length, last = 0;
    for (uint64_t i = 0; i < length; ++i) {
      if (open[i] || !wrong(i)) continue;
      first = std::min(first, i);
      last = i;
    }
    if (first != length) report_parity(zone, column + first, last + 1 - first);
  }

  // TRACE-1, TRACE-2, TRACE-4
  bool torn(const pool::fragment& f, const format::fragment_header& stored,
            const format::fragment_header& back) const noexcept;

 private:
  bool in_doubt(uint64_t tag) const noexcept;
  // TRACE-5, TRACE-6: by column, whether a crash may have left it as it is.
  std::vector<bool> open_columns(uint64_t zone, uint64_t column, uint64_t length) const;
  void report_parity(uint64_t zone, uint64_t column, uint64_t length) const noexcept;

  pool::state& s_;
  const uint64_t resolved_, present_;
  const std::vector<pool::data_range> in_place_;
};

}  // namespace scute::core::engine

// SPDX-License-Identifier: BSD-3-Clause
// Two transactions that write one object without a lock: the first one that commits succeeds, and
// the other one fails with SCUTE_E_CONFLICT.
//
// CONFLICT-1 A fragment that is about to be written still has the header that the transaction has
//    read: tested when no other thread can change it any more. In engine redo that is under the
//    object's lock (core/shared/object_locks.hpp), in engine logfree under the window. A header is
//    another transaction's only if that very header was tested: damage may have changed it.
// CONFLICT-2 Bytes that the transaction has read of a fragment are of the header's version
//    (core/tx/verify.hpp), and so is all that it derived from the medium since, without a lock:
//    checksums, and which bytes differ. None of it is believed before CONFLICT-1 was tested. A read
//    counts only if no range of the fragment was open in place, or opened, meanwhile.
// CONFLICT-3 While a transaction has ranges of a fragment open in place, no other one commits to
//    it, frees it, or opens ranges of it in place. No other thread reads its stores on the medium
//    as the object's bytes. An aborted transaction closes its ranges when no recovery can restore
//    their old bytes any more, neither from parity nor from an undo entry.
// CONFLICT-4 Without object checksums (protection below mlpc) changes leave headers as they are.
//    Then CONFLICT-1 only finds out whether the object was freed meanwhile. Each of two
//    transactions writes the bytes that differ from the other's, so the later one stands.
//    scute_obj_commit() compares the bytes.
//
// On CONFLICT-1: the test costs a read of a line that is written next. A member that fails its
// checksum is repaired, with no columns held, and tested again. (Found by an hour of campaigns: a
// lost page was rebuilt under the window, next to a damaged cell. Several parities can distinguish
// the two only by the checksum.) Another thread may end its repair between two reads, so the tested
// header counts. (Found by a campaign that ran concurrently with a scrub.)
//
// On CONFLICT-2: the stores of a range that was open in place are of no version. If their
// transaction is aborted they are gone, with the header unchanged. So a read from the medium counts
// only if the fragment was closed before, and nothing was opened in place until after it
// (overlays::revision()). (Found by an attack from outside.) If no checksum can show that a copy is
// the object's, it counts only if nothing was opened or closed in place while it was taken. Open
// ranges are copied from the overlay. (Found by tests of contention.)
//
// On CONFLICT-3: state::overlaid says what is open in place; it changes under the columns' stripes,
// or the object lock. If ranges were closed earlier, the next transaction that commits there could
// lose its bytes. (Found by the explorer, when threads could be switched while one is sealing.)
#pragma once

#include <span>

#include "core/tx/engine.hpp"

namespace scute::core::tx {

[[noreturn]] void refuse_change(const pool::state& s, uint64_t header);

// A member that lane l's transaction may not write, or none.
struct change {
  const member* which = nullptr;
  bool damaged = false;  // it fails its checksum, so another thread need not have changed it

  explicit operator bool() const noexcept { return which != nullptr; }
};
// The first changed member. The caller has the members' columns or object locks.
change find_changed(const pool::state& s, const pool::lane& l,
                    std::span<const member> members) noexcept;
// Repairs a damaged member, and returns: it has to be tested again. Throws SCUTE_E_CONFLICT if it
// is not damaged, or was too often; SCUTE_E_CORRUPT if it cannot be repaired. attempt: 0, 1, ...
// The caller holds no columns.
void repair_or_refuse(pool::state& s, pool::lane& l, const change& c, int attempt);
// Throws SCUTE_E_CONFLICT if another lane has a part of [offset, offset + length) open in place.
void require_closed(const pool::state& s, const pool::lane& l, uint64_t header, uint64_t offset,
                    uint64_t length);

}  // namespace scute::core::tx

// SPDX-License-Identifier: BSD-3-Clause
// What opening a pool that was not closed properly does before anything else.
//
//   0. the entries that 1 and 2 are about are written back and fenced
//   1. every lane's last entry, if its status line does not say that it is applied, is replayed
//   2. live undo entries are rolled back, newest first
//   3. chunks that were lent to logs are overlaid with zeros, which is what parity takes them for:
//      a chunk is lent when it is zero, durably, and its parity stays as it is. Their bytes stay
//      until the next epoch has begun, since a chain that a replay needs may be among them. Of
//      chunks that a library before format::log_chunk_zeroed has lent the parity is recomputed as
//      well
//   4. the parity of every column touched in 1 and 2, or named by an intent, is recomputed
//   5. fence
//
// Entries stay valid until the caller writes a superblock with the next epoch, so the whole may be
// cut short at any point and run again (REDO-4, POOL-7). Entries of different lanes are replayed in
// the order of their sequence numbers, which tells for those that write the same bytes (REDO-6).
//
// RECOVER-1 Nothing is written that rests on an entry which may not be durable. A process that dies
//    in the fence that decides leaves an entry that its successor can see and a power failure takes
//    away; had part of it been replayed by then, no process would finish it. The status lines need
//    no such care: one that is seen, and lost, makes the next recovery replay again what is in
//    place.
// RECOVER-2 Parity is recomputed from bytes that are durable by the same fence. The stores of a
//           replay are. The bytes that an intent names may be a dead process's and unfenced, so
//           they are written back as well.
// RECOVER-3 Pages that are known to be lost are rebuilt before anything is replayed, and the code
//    that rebuilds one has to know that parity takes lent chunks for zeros: those that are valid
//    then are overlaid until 3 knows better. (Found by reading: log bytes of a chunk were taken for
//    data, and at mlp nothing told.)
// RECOVER-4 A chunk is lent also where its header is damaged, as long as the column has it: before
//    anything is replayed, or after that. Parity that is recomputed meanwhile would take in what
//    the chunk holds.
// RECOVER-5 No thread looks at a page that is known to be lost before the code that rebuilds it
//           knows of the coming replay (watch, replay_begins()). A page rebuilt by a look is final,
//           and has its content from before the replay. (Found by reading.)
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/common/touched_columns.hpp"
#include "pool/state.hpp"
#include "tx/engine.hpp"

namespace scute::core::engine {

// The parity, after a crash, of in-place ranges that are rolled back.
enum class open_parity {
  unknown,  // it is recomputed
  // The old one, as it shall be: the engine's transactions change it last. It must not be
  // recomputed, since a column that such a range has bytes in may be open to a transaction that
  // only its parity can roll back (engine/logfree/logged.hpp, LOGGED-1 and LOGGED-2).
  old
};

// Runs alone, before any lane is in use. Throws failure(SCUTE_E_CORRUPT) if an entry contradicts
// the geometry; nothing was changed then.
tx::recovery_report recover_from_logs(pool::state& s, medium::writer& w, open_parity parity,
                                      tx::recovery_watch* watch);

// RECOVER-3: for as long as one of these lives what zones say before anything is replayed counts of
//            lent chunks.
class lent_before_replay {
 public:
  explicit lent_before_replay(pool::state& s);
  ~lent_before_replay();
  lent_before_replay(const lent_before_replay&) = delete;
  lent_before_replay& operator=(const lent_before_replay&) = delete;

  // Those whose header was damaged.
  const std::vector<uint64_t>& damaged() const noexcept { return damaged_; }

 private:
  pool::state& s_;
  std::vector<uint64_t> chunks_, damaged_;
};

// The chunks that zones call used, and those lent to logs: parity takes them for zeros. Reads
// headers, so they are as they shall be, or damaged. Ends `before`. Adds to `unzeroed`, if there is
// one, those that an older library lent without zeros in front.
void overlay_lent(pool::state& s, std::optional<lent_before_replay>& before,
                  touched_columns* unzeroed);

}  // namespace scute::core::engine

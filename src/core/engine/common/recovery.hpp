// SPDX-License-Identifier: BSD-3-Clause
// The first step of opening a pool that was not closed properly.
//
//   0. the entries of 1 and 2 are written back and fenced
//   1. every lane's last entry, if its status line does not say that it is applied, is replayed
//   2. live undo entries are rolled back, newest first
//   3. chunks that were lent to logs are overlaid with zeros, because parity takes them for zeros:
//      a chunk is lent only when it is durably zero, and its parity does not change. Their bytes
//      stay until the next epoch has begun, since a replay may need a chain among them. If a
//      library older than format::log_chunk_zeroed has lent a chunk, its parity is recomputed too
//   4. the parity of every column touched in 1 and 2, or named by an intent, is recomputed
//   5. fence
//
// Entries stay valid until the caller writes a superblock with the next epoch. So the whole may be
// cut short at any point and run again (REDO-4, POOL-7). Entries of different lanes are replayed in
// the order of their sequence numbers, which matters for those that write the same bytes (REDO-6).
//
// RECOVER-1 Recovery writes nothing that rests on an entry which may not be durable. A process that
//    dies in the deciding fence leaves an entry that its successor sees and a power failure takes
//    away. Had part of it been replayed by then, no process would finish it.
// RECOVER-2 Parity is recomputed from bytes that the same fence makes durable. The stores of a
//    replay are. The bytes that an intent names may be a dead process's and unfenced, so they are
//    written back as well.
// RECOVER-3 Pages that are known to be lost are rebuilt before anything is replayed. The code that
//    rebuilds one has to know that parity takes lent chunks for zeros. So the chunks that are lent
//    before the replay are overlaid until step 3 replaces those overlays.
// RECOVER-4 A chunk with a damaged header is lent as well if its column decodes to the header of a
//    lent chunk, before or after the replay. Otherwise recomputed parity would include its bytes.
// RECOVER-5 No thread reads a page that is known to be lost before the code that rebuilds it knows
//    of the coming replay (watch, replay_begins()). A page rebuilt by a read is final, and has its
//    content from before the replay. (Found by reading.)
//
// On RECOVER-1: the status lines need no such care. If one is seen and then lost, the next recovery
// only replays again the bytes that are in place. On RECOVER-3, found by reading: log bytes of a
// chunk were taken for data, and level mlp did not detect it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/engine/common/touched_columns.hpp"
#include "core/shared/state.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

// The parity, after a crash, of in-place ranges that are rolled back.
enum class open_parity {
  unknown,  // it is recomputed
  // The old one, which is correct, since the engine's transactions change it last. It must not be
  // recomputed: such a range may have bytes in a column that is open to another transaction, and
  // only its parity can roll that back (core/engine/logfree/logged.hpp, LOGGED-1 and LOGGED-2).
  old
};

// Runs alone, before any lane is in use. Throws failure(SCUTE_E_CORRUPT), with nothing changed, if
// an entry contradicts the geometry.
tx::recovery_report recover_from_logs(pool::state& s, medium::writer& w, open_parity parity,
                                      tx::recovery_watch* watch);

// RECOVER-3: overlays the chunks that zones call lent before the replay, as long as it lives.
class lent_before_replay {
 public:
  explicit lent_before_replay(pool::state& s);
  ~lent_before_replay();
  lent_before_replay(const lent_before_replay&) = delete;
  lent_before_replay& operator=(const lent_before_replay&) = delete;

  // The chunks whose header was damaged.
  const std::vector<uint64_t>& damaged() const noexcept { return damaged_; }

 private:
  pool::state& s_;
  std::vector<uint64_t> chunks_, damaged_;
};

// Notes how far each zone is used, and overlays the chunks that are lent to logs: parity takes them
// for zeros. Reads chunk headers, which must be final or damaged by now. Ends `before`. If
// `unzeroed` is given, adds the chunks that an older library lent without zeroing them first.
void overlay_lent(pool::state& s, std::optional<lent_before_replay>& before,
                  touched_columns* unzeroed);

}  // namespace scute::core::engine

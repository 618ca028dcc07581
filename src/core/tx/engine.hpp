// SPDX-License-Identifier: BSD-3-Clause
// The operations that a transaction needs of a commit engine (docs/internals/architecture.md, "A
// transaction"). An engine makes a write set durable, atomically, and knows how to recover.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/heap/step_engine.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/lane.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/tx/range_set.hpp"

namespace scute::core::tx {

// A range that the user stores to directly. `old`, in DRAM, keeps its old bytes until the end.
struct inplace_range {
  uint64_t offset;
  uint64_t length;
  const std::byte* old;
};

// A fragment whose header a transaction writes, with payload or without (docs/internals/logfree.md,
// "The protocol").
struct member {
  pool::fragment where;
  std::byte* header;  // its new header, complete, in DRAM; an engine may put it into a ring
  uint32_t covered;   // payload bytes that the new header vouches for
  uint64_t extent;    // payload bytes that the transaction may write or a rollback needs
  bool fresh;         // the bytes that lay there have no owner and no checksum
  uint64_t origin;    // tag of the header that the transaction has read; no meaning if fresh
};

// A member that is a whole object of one fragment, in one row, as the short way of a commit needs
// it. Most of this is known since the object was opened or allocated (docs/internals/logfree.md,
// "The short way").
struct small_member {
  // in_place: the user stores to ranges of it on the medium. Its columns are held since then, and
  // the image has its bytes from before.
  enum class change : uint8_t { contents, fresh, freed, in_place };
  uint64_t header;               // file offset; the payload follows
  std::byte* image;              // in DRAM: room for the new header, then the new payload
  format::fragment_header read;  // of the version that was read; no meaning if fresh
  uint64_t parity;               // file offset of the (first) parity of the header's first byte
  uint64_t zone, column;         // of that byte
  uint32_t stripe;               // of its block
  uint32_t size;                 // payload bytes, all of which the new header vouches for
  uint32_t room;                 // that the slot has
  uint32_t type;                 // of the object
  uint16_t generation;           // of its chunk
  change what;
  // For contents that no checksum vouches for: the parts of the payload that the transaction may
  // change. The rest of the image has no owner, and other transactions may write it
  // (core/tx/conflict.hpp, CONFLICT-4).
  std::span<const byte_range> open;

  // Bytes from the header on that a window over the member covers.
  uint64_t extent() const noexcept {
    return format::header_size + (what == change::freed ? 0 : uint64_t{size});
  }
};
inline constexpr size_t small_members_max = 8;

class slot_reclaimer {
 public:
  // The transaction is decided and durable. Only for slots, not spans: the caller holds stripes,
  // and a thread that waits for a stripe may hold locks that the release of a span needs. Calls
  // after the first one do nothing.
  virtual void give_back() noexcept = 0;

 protected:
  ~slot_reclaimer() = default;
};

struct write_set {
  std::span<const pool::patch> patches;     // disjoint; includes every header that changes
  std::span<const inplace_range> in_place;  // disjoint from each other and from the patches
  std::span<const member> members;          // of both; none without checksums
  bool metadata = false;                    // there is a patch that belongs to no member
  // Slots that are free as soon as the transaction is decided. An engine may call this before it
  // returns, when the lock that it takes costs least: immediately after its fence, before anything
  // else is written.
  slot_reclaimer* freed = nullptr;
};

struct recovery_report {
  uint64_t completed = 0;  // log entries replayed
  uint64_t undone = 0;     // transactions whose in-place ranges were rolled back
};

// Learns how far recovery has come, for threads that have to rebuild lost pages meanwhile.
class recovery_watch {
 public:
  // The logs have been read; nothing has been written yet.
  virtual void replay_begins() = 0;
  // All data is final. In the columns of `written` the parity may be the old one, the new one, or
  // torn.
  virtual void parity_begins(std::span<const pool::data_range> written) = 0;

 protected:
  ~recovery_watch() = default;
};

// Part of a log that outlives transactions was found damaged, at `offset` of the file.
struct log_finding {
  const char* what;
  uint64_t offset, length;
  bool repaired;
};
using log_finding_fn = std::function<void(const log_finding&)>;

class engine : public heap::step_engine {
 public:
  // ---- for the session --------------------------------------------------------------------------

  // Before anything is recovered or repaired: reports to state::overlaid which chunks belong to a
  // log, and so are not in the parity.
  virtual void find_log() {}
  // The pool was not closed properly: applies its logs, durably. Alone in the pool, before any lane
  // is in use. May be cut short anywhere and run again, until the superblock names the next epoch.
  // Throws failure(SCUTE_E_CORRUPT), with nothing changed, if a log contradicts the geometry.
  virtual recovery_report recover(medium::writer& w, recovery_watch* watch) = 0;
  // True if transactions of epochs after `resolved`, the superblock's resolved_epoch, have left
  // more than recover() repairs. Then the session calls resume() as soon as the superblock names
  // the next epoch, and state::resolving has work.
  virtual bool has_unresolved(uint64_t resolved) const noexcept = 0;
  virtual void resume(uint64_t resolved) = 0;
  // The superblock is about to name the next epoch. Recovery is over; or it was not needed, since
  // the pool was closed properly. May be cut short anywhere and run again. Throws the errors of
  // opening a file.
  virtual void prepare() {}
  // The superblock is about to say that the pool is closed properly: everything is drained, and no
  // other thread uses the pool. Throws SCUTE_E_IO.
  virtual void closing() {}
  // The superblock says that the pool is closed properly.
  virtual void closed() noexcept {}
  // The pool is about to be used: recovery is over, and the superblock names this session's epoch.
  virtual void start() {}
  // A log that outlives transactions: its size, how much of it is in use, and the LSN up to which
  // it is void. All 0: none.
  struct log_state {
    uint64_t cap = 0, used = 0, truncation_point = 0;
    uint64_t file = 0;  // bytes of its own file; 0: it has none
  };
  virtual log_state log() const noexcept { return {}; }
  // Gives back to the heap what the engine has borrowed and needs no more, by steps in the lane.
  // Returns true if it gave some back, so that there is more room for objects. The lane has no
  // patches planned. Throws as commit() does.
  virtual bool give_back_log(pool::lane&) { return false; }
  // Examines the parts of the log that count for damage, and with `repair` repairs it. Any thread
  // without locks.
  virtual void look_at_log(bool /*repair*/, const log_finding_fn& /*report*/) {}
  // Calls fn(offset, length) for the parts of the file where the log has something that counts now.
  virtual void for_each_live_log(
      const std::function<void(uint64_t offset, uint64_t length)>& /*fn*/) {}
  // Counts writes that were made for no particular lane.
  virtual const medium::counters* background_count() const noexcept { return nullptr; }
  // Transactions leave work for an idle moment: a thread has to call background() regularly.
  virtual bool has_background() const noexcept = 0;
  // Does the work that is due. Returns false if none is left; a thread that leaves some after that
  // notifies state::watch. Any one thread.
  virtual bool background() noexcept = 0;
  // Also makes durable what the lane's transactions have deferred, unless the medium has failed.
  // Any thread without locks. Throws std::bad_alloc: then some of it may not be durable.
  virtual void drain(pool::lane& l) = 0;

  // ---- transactions: each with the lane of its own thread ---------------------------------------

  // Makes a transaction durable: all of it, or on an exception nothing. Throws SCUTE_E_CONFLICT if
  // a member changed since the transaction read it; SCUTE_E_NOSPC if its log finds no room;
  // SCUTE_E_IO if the medium failed. In the last case only the next recovery knows the outcome.
  virtual void commit(pool::lane& l, const write_set& w) = 0;

  // Whether commit() should log new objects of so many bytes in all, rather than have the larger
  // ones prewritten. May make room for them.
  virtual bool logs_payload(pool::lane&, uint64_t /*bytes*/) { return false; }
  // A short way to the same for 1 to small_members_max small objects, and nothing else. in_place:
  // all ranges of the transaction, each in a member; commit_short() updates the images. Returns
  // false, with nothing written, if commit() has to do it. Calls freed->give_back() where commit()
  // would, if anything is freed.
  virtual bool commit_short(pool::lane&, std::span<const small_member>,
                            std::span<const inplace_range> /*in_place*/,
                            slot_reclaimer* /*freed*/) {
    return false;
  }

  // Makes sure that the present bytes of a range come back unless the running transaction commits.
  // The caller has copied them to r.old. fragments: those that the range touches, with the bytes
  // that their headers vouch for. SCUTE_E_CONFLICT as in commit().
  virtual void save(pool::lane& l, const inplace_range& r, std::span<const member> fragments) = 0;
  // A short way to the same for a range of a small object. opened: the object is new to the
  // transaction; its header was read without a lock, and its payload is now copied to the image,
  // and verified. Copies the bytes of the range to `old`, which r.old points to. Returns false,
  // with only these changed, if save() has to do it, or to report an error.
  enum class member_state : uint8_t { opened, known };
  virtual bool save_short(pool::lane&, const small_member&, member_state,
                          const inplace_range& /*r*/, std::byte* /*old*/) {
    return false;
  }
  // Rolls saved ranges back, for an abort.
  virtual void restore(pool::lane& l, std::span<const inplace_range> ranges) = 0;
};

}  // namespace scute::core::tx

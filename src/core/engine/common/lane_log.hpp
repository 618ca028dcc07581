// SPDX-License-Identifier: BSD-3-Clause
// Writes log entries. docs/reference/format.md describes the bytes;
// core/engine/common/log_reader.hpp finds them again.
//
// LOG-1 An entry is valid if its checksum, pool salt, epoch, lane and position fit, in at least one
//    replica. If it is chained, every link must be valid too, each in at least one replica. A torn
//    entry is invalid, so one fence after writing an entry decides it.
// LOG-2 Entry k of a lane is written only after entry k-1 has been applied and is durable in place.
//    So of the valid entries only the one with the highest sequence can need a replay.
// LOG-3 Before an entry overwrites its predecessor, or a chain is taken apart, the status line says
//    durably that the entry concerned is applied. Otherwise an older entry could pass for the last
//    one.
// LOG-4 Undo entries lie in an area of their own, from its start, for one transaction at a time.
//    Where the area ends, an entry names a lent chunk in which they continue, and so on. They are
//    live while no later entry of the ring and no status word says that their transaction has
//    ended.
// LOG-5 A status word has a check of 16 bits, which one in 65,536 damaged words passes. So
//    `applied` counts only up to applied_reach above the valid entries of the ring, unless both
//    replicas agree. It is above them only if a torn entry overwrote the entry that it names
//    (LOG-3); before that can be, older entries are durably gone from the ring.
// LOG-6 For the same reason `undone` counts only up to the transaction whose undo entries are
//    present. It names a transaction only after its first undo entry, if any, is durable. The first
//    undo entry of each later transaction overwrites that one.
#pragma once

#include <span>
#include <vector>

#include "core/heap/heap.hpp"
#include "core/log/entry.hpp"
#include "core/shared/state.hpp"

namespace scute::core::engine {

// The identity of entries that this session writes to a lane.
inline log::identity identity_of(const pool::state& s, uint32_t lane) noexcept {
  return {s.salt, s.sb.epoch, lane};
}

// See LOG-5. In sequences, which have gaps.
inline constexpr uint64_t applied_reach = uint64_t{1} << 24;

// Builds the image of an entry in l.image.
class entry_image {
 public:
  entry_image(pool::lane& l, uint32_t flags) : l_(l), flags_(flags) { log::begin(l.image); }
  // bytes: null for a record without bytes.
  void add(format::record_kind kind, uint64_t offset, const void* bytes, uint32_t length) {
    log::add_record(l_.image, kind, offset, bytes, length);
  }

  pool::lane& lane() const noexcept { return l_; }
  uint32_t flags() const noexcept { return flags_; }
  // The records are in lent chunks by now, and only a chain is in l.image.
  void chained() noexcept { flags_ |= format::entry_chained; }

 private:
  pool::lane& l_;
  uint32_t flags_;
};

// The thing that has ended: only an entry, or also the lane's transaction, which had undo entries.
enum class ending : uint8_t { entry, in_place };

class lane_log {
 public:
  lane_log(pool::state& s, heap::heap& h) : s_(s), heap_(h), lent_(s.geo.lane_count) {}

  // Moves an entry that does not fit the lane's ring to lent chunks. May make steps of its own
  // through the lane. Throws SCUTE_E_NOSPC with nothing written.
  void prepare(entry_image& image);
  // Streams a prepared entry to the lane's ring and advances l.sequence to its number. Undecided
  // until the next fence.
  void write(const entry_image& image) noexcept;
  // The same for an undo entry, after those already written by this transaction.
  void write_undo(const entry_image& image);
  // Reports that the fence of those entries has been made, so they are durable. Without this call
  // the end of the transaction makes more fences (LOG-6).
  void undo_decided(const pool::lane& l) noexcept { lent_[l.index].undo_decided = true; }
  // Writes the transaction's first undo entry, from an image that another thread may have built
  // with add_undo(), through another writer. Undecided until that writer's fence.
  // Async-signal-safe.
  void write_first_undo(pool::lane& l, byte_buffer& image, medium::writer& w) noexcept;
  // Adds a record to such an image; false, with nothing added, if a lane's undo area would not hold
  // it.
  bool add_undo(byte_buffer& image, uint64_t offset, const std::byte* old, uint64_t length) const;

  // After the last entry has been applied, durably: notes that in the status line, and keeps lent
  // chunks in the chunk cache (core/heap/chunk_cache.hpp). The note is a plain store: LOG-2 needs
  // no more until another lane asks (REDO-5). The end of a transaction with in-place ranges is
  // durable on return. Chunks that find no room in the cache, and cannot be freed now for want of
  // memory, are tried again later.
  void retire(pool::lane& l, ending of) noexcept;

  // The same in two parts, for callers that hold locks in between. When invalidate() returns, the
  // entry durably needs no replay. clean_up(), called without locks, gives back the chunks that it
  // had borrowed.
  void invalidate(pool::lane& l, ending of) noexcept;
  void clean_up(pool::lane& l, ending of) noexcept;

  // The lane's transaction has written undo entries.
  bool has_undo(const pool::lane& l) const noexcept {
    return lent_[l.index].undo_transaction == l.transaction;
  }

 private:
  struct undo_area {
    uint64_t base[2];  // file offset of each replica's byte 0
    uint64_t next, end;
  };
  struct lane_state {
    std::vector<uint64_t> ring_chunks, undo_chunks;
    std::vector<uint64_t> spare;  // no longer needed; always has room for those of the other two
    undo_area area;               // where the next undo entry goes
    uint64_t undo_count = 0;
    uint64_t undo_transaction = 0;  // their transaction; 0 once it has ended
    bool undo_decided = true;       // see undo_decided()
    uint64_t oldest = 0;            // no valid entry of the ring has a lower sequence (LOG-5)
    uint64_t undone = 0;            // in the second word of the status line
    uint64_t undone_word = 0;       // that word; 0: not made yet
  };

  undo_area lane_undo_area(const pool::lane& l) const noexcept;
  void stream(pool::lane& l, uint64_t position, const uint64_t (&base)[2]);
  void sweep(pool::lane& l) noexcept;
  void append_undo(pool::lane& l, uint32_t flags);
  void chain(pool::lane& l, std::vector<uint64_t>& chunks);
  void borrow(pool::lane& l, std::vector<uint64_t>& to, size_t n);
  void cache_spare(pool::lane& l) noexcept;
  void note(pool::lane& l, ending of) noexcept;
  void fence_status(pool::lane& l) noexcept;
  void make_noted(pool::lane& l) noexcept;
  void store_status(pool::lane& l);
  void flush_status(pool::lane& l);

  pool::state& s_;
  heap::heap& heap_;
  std::vector<lane_state> lent_;
};

}  // namespace scute::core::engine

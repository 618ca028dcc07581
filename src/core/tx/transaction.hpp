// SPDX-License-Identifier: BSD-3-Clause
// A transaction: the objects it has opened, and the calls of the public interface on them.
//
// TX-1 Until commit nothing of it is on the medium except in-place ranges, whose old bytes are
//    durable in an undo entry, and reserved slots, whose headers say free.
// TX-2 An object is verified when it enters the transaction: whole if it is opened whole, otherwise
//    each fragment that a range touches. Fragments that fail are repaired or reported, never used.
//    The copy is what is verified: it is made first, and then the fragment tested where it lies, so
//    that damage in between is found. (Found by the live fault campaign.)
// TX-3 commit() ends the transaction, whatever happens. If it throws, the transaction has been
//    aborted (or, SCUTE_E_IO, its outcome is left to recovery).
#pragma once

#include <memory>
#include <vector>

#include "core/heap/heap.hpp"
#include "core/tx/arena.hpp"
#include "core/tx/engine.hpp"
#include "core/tx/micro_buffer.hpp"
#include "core/tx/object_lock_guard.hpp"
#include "core/tx/sealer.hpp"

namespace scute::core::tx {

class transaction final : private slot_reclaimer {
 public:
  transaction(pool::state& s, heap::heap& h, engine& e, pool::lane& l)
      : s_(s), heap_(h), engine_(&e), lane_(l), sealer_(s, l, arena_) {}

  // Switches to another engine. Between transactions.
  void use(engine& e) noexcept { engine_ = &e; }

  void begin();
  void commit();
  // Commits a write set that the caller has made, in a transaction that has opened nothing. TX-3
  // holds as with commit().
  void commit(const write_set& made);
  void abort() noexcept;

  unsigned depth = 0;
  bool doomed = false;
  // touched: never clear for an object in buffers_. Between transactions everything counts as
  // touched: a caller that still reads through a transaction that has ended calls the library, and
  // gets an error.
  scute_tx_reads reads{0, UINT64_MAX};

  uint64_t alloc(uint64_t size, uint32_t type, void** bytes);
  void free(uint64_t oid);
  void prefetch(uint64_t oid) const noexcept;
  void* open(uint64_t oid);
  void* add_range(uint64_t oid, uint64_t offset, uint64_t length);
  void* in_place(uint64_t oid, uint64_t offset, uint64_t length);
  const void* get(uint64_t oid);
  const void* get_range(uint64_t oid, uint64_t offset, uint64_t length);
  // The micro-buffer of an object if it has one that is whole; otherwise null.
  const void* peek(uint64_t oid) noexcept;

  // An object that is open as a whole must hold these bytes when it is committed, or
  // SCUTE_E_CONFLICT.
  void expect(uint64_t oid, const std::byte* bytes) { find(oid & ~s_.oid_tag)->expected = bytes; }

  // The tag of the object's first header when it was verified. The object is open as a whole.
  uint64_t version(uint64_t oid) noexcept { return find(oid & ~s_.oid_tag)->origins.of(0); }

  // Makes `oid` the pool's root when the transaction commits; `at` is the root anchor's offset.
  void set_anchor(uint64_t at, uint64_t oid) {
    anchor_at_ = at;
    anchor_ = {};
    anchor_.oid = oid;
  }

  // Describes an object that the transaction has opened or allocated. Returns false if it does not
  // know the object. Outputs may be null.
  bool describe(uint64_t oid, uint64_t* size, uint64_t* usable, uint32_t* type);

  pool::lane& lane() noexcept { return lane_; }
  pool::state& pool() noexcept { return s_; }

 private:
  static constexpr size_t linear_max = 8;  // buffers that are found without an index
  // A range of an object of up to this many bytes opens all of it: its checksum is then computed
  // from the buffer, which costs less than updating the old one.
  static constexpr uint64_t whole_max = 512;
  // Bytes of an object, and of its parity, that are prefetched when it is opened, and when it has
  // been copied. Measured: more at once than a core has line buffers for only delays the first
  // ones.
  static constexpr uint64_t data_ahead = 1088, parity_ahead = 320, parity_later = 4160;

  micro_buffer* find(uint64_t payload) noexcept;
  // When the first fragment of an object that enters is verified.
  enum class verification { now, with_copy, to_free };
  micro_buffer& enter(uint64_t oid, verification how = verification::now);
  micro_buffer& enter_filled(uint64_t oid, uint64_t offset, uint64_t length);
  heap::object reserve(uint64_t size);
  micro_buffer& add(const heap::object& o);
  void narrow(micro_buffer& b);
  void enter_index(size_t n) noexcept;
  void make_room();
  void drop_last() noexcept;
  void materialise(micro_buffer& b);
  bool knows(uint64_t payload) noexcept;
  micro_buffer* open_small(uint64_t oid, uint64_t room_max);
  micro_buffer* open_unchecked(uint64_t oid, uint64_t offset, uint64_t length);
  bool is_untouched(const heap::object& o, uint64_t revision) const noexcept;
  bool copy_unchecked(const micro_buffer& b, uint64_t begin, uint64_t end) noexcept;
  void fetch_ahead(const heap::object& o, const pool::cell& c) const noexcept;
  small_member* add_small(const heap::object& o, const pool::cell& c,
                          small_member::change what) noexcept;
  small_member* open_in_place(uint64_t oid);
  void* in_place_small(uint64_t oid, uint64_t offset, uint64_t length);
  bool commit_short();
  void fill(micro_buffer& b, uint64_t begin, uint64_t end);
  void check_range(uint64_t size, uint64_t offset, uint64_t length) const;
  bool needs_object_lock(const micro_buffer& b) const noexcept;
  void require_same(const micro_buffer& b);
  void lock_changes(object_lock_guard& mine);
  void check_canaries();
  void give_back() noexcept override;
  void release_freed(bool spans) noexcept;
  void make_excess();
  void find_fresh();
  bool prewrites_any();
  void prewrite_large();
  void end();

  pool::state& s_;
  heap::heap& heap_;
  engine* engine_;
  pool::lane& lane_;
  sealer sealer_;
  arena arena_;
  std::vector<std::unique_ptr<micro_buffer>>
      buffers_;  // the first count_ are in use; the rest keep their memory
  size_t count_ = 0;
  // The short way of a commit needs these, of the same objects in the same order, as long as all
  // are small.
  small_member smalls_[small_members_max];
  size_t small_count_ = 0;
  uint64_t anchor_at_ = 0;
  format::root_anchor anchor_{};
  bool gave_back_ = false;            // the slots that it frees are free
  std::vector<inplace_range> saved_;  // all in-place ranges
  std::vector<uint64_t> fresh_;       // first headers of new objects, ascending, during commit
  std::vector<uint32_t> index_;       // open addressing by payload offset, once there are many
};

}  // namespace scute::core::tx
